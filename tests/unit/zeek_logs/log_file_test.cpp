// SPDX-License-Identifier: BSD-3-Clause
#include "zeek_logs/writing/log_file.hpp"

#include <doctest/doctest.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include <sys/resource.h>

#include "support/temporary_folder.hpp"

using namespace pubsub;
using zeek::log_directory;
using zeek::log_file;

namespace {

std::string text_in(const std::string& path) {
  std::ifstream file{path};
  return {std::istreambuf_iterator<char>{file}, {}};
}

void put(const std::string& path, const std::string& text) {
  std::ofstream{path} << text;
}

/// While it lives, no file of this process grows beyond so many bytes: as on a full disk.
class full_disk {
public:
  explicit full_disk(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  full_disk(const full_disk&) = delete;
  full_disk& operator=(const full_disk&) = delete;
  ~full_disk() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }

private:
  rlimit before_{};
  void (*handler_)(int);
};

} // namespace

TEST_CASE("lines are in the file once they are flushed") {
  const test::temporary_folder folder;
  auto directory = log_directory::open(folder / "");
  REQUIRE(directory);
  auto file = log_file::create(*directory, "a.log");
  REQUIRE(file);
  file->pending() += "one\n";
  CHECK(text_in(folder / "a.log").empty());
  REQUIRE(file->flush());
  file->pending() += "two\n";
  REQUIRE(file->flush());
  CHECK(text_in(folder / "a.log") == "one\ntwo\n");
  CHECK(file->lost() == 0);
}

TEST_CASE("a write that fails leaves whole lines, and counts the records that are lost") {
  const test::temporary_folder folder;
  auto directory = log_directory::open(folder / "");
  REQUIRE(directory);
  auto file = log_file::create(*directory, "a.log");
  REQUIRE(file);
  const full_disk full{22};
  file->pending() += "#head\n1234567\n";
  REQUIRE(file->flush());
  file->pending() += "abc\nabcdefgh\nabc\n#close\n";
  const auto flushed = file->flush();
  REQUIRE_FALSE(flushed);
  CHECK(flushed.error().code() == errc::cannot_write_file);
  CHECK(flushed.error().context() == folder / "a.log" + ": File too large");
  CHECK(text_in(folder / "a.log") == "#head\n1234567\nabc\n");
  CHECK(file->lost() == 2);
  CHECK(file->failed());
  CHECK(file->pending().empty());
}

TEST_CASE("a file begins only where there is none, and not behind a symbolic link") {
  const test::temporary_folder folder;
  auto directory = log_directory::open(folder / "");
  REQUIRE(directory);
  put(folder / "a.log", "mine");
  std::filesystem::create_symlink(folder / "elsewhere", folder / "b.log");
  for (const auto* name : {"a.log", "b.log"}) {
    const auto refused = log_file::create(*directory, name);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().context() == folder / name + ": File exists");
  }
  CHECK(text_in(folder / "a.log") == "mine");
  CHECK_FALSE(std::filesystem::exists(folder / "elsewhere"));
}

TEST_CASE("a file that is moved away overwrites no other") {
  const test::temporary_folder folder;
  auto directory = log_directory::open(folder / "");
  REQUIRE(directory);
  for (const auto* const name : {"a.T.log", "a.T.2.log", "a.T.3.log"}) {
    put(folder / "a.log", name);
    const auto moved = directory->move_away("a", "T");
    REQUIRE(moved);
    CHECK(*moved == name);
    CHECK(text_in(folder / name) == name);
  }
  CHECK(directory->move_away("a", "T").value_or("failed").empty()); // there is no a.log any more
}

TEST_CASE("a directory has one writer at a time") {
  const test::temporary_folder folder;
  {
    const auto directory = log_directory::open(folder / "");
    REQUIRE(directory);
    const auto other = log_directory::open(folder / "");
    REQUIRE_FALSE(other);
    CHECK(other.error().context() == folder / "" + ": another process writes logs there");
  }
  CHECK(log_directory::open(folder / ""));
}

TEST_CASE("a directory that is none is refused") {
  const test::temporary_folder folder;
  put(folder / "file", "");
  CHECK(log_directory::open(folder / "none").error().context() ==
        folder / "none" + ": No such file or directory");
  CHECK(log_directory::open(folder / "file").error().context() ==
        folder / "file" + ": Not a directory");
}
