// SPDX-License-Identifier: BSD-3-Clause
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <string>

#include <sys/stat.h>
#include <unistd.h>

#include "remote/remote_operations.hpp"

using namespace pubsub;
using namespace pubsub::tool::bench;

namespace {

/// A served folder, and a secret beside it.
class scene {
public:
  scene() {
    auto pattern = (std::filesystem::temp_directory_path() / "pubsub-faop-XXXXXX").string();
    REQUIRE(::mkdtemp(pattern.data()) != nullptr);
    root_ = pattern;
    std::filesystem::create_directories(folder() / "below");
    write(root_ / "secret", "secret");
    write(folder() / "digits", "0123456789");
    write(folder() / "empty", "");
    write(folder() / "below" / "letters", "abc");
    std::filesystem::create_symlink(root_ / "secret", folder() / "absolute_link");
    std::filesystem::create_symlink("../secret", folder() / "upward_link");
    std::filesystem::create_symlink(root_, folder() / "below" / "folder_link");
    REQUIRE(::mkfifo((folder() / "fifo").c_str(), 0600) == 0);
  }
  ~scene() { std::filesystem::remove_all(root_); }

  std::filesystem::path folder() const { return root_ / "served"; }
  std::string secret() const { return root_ / "secret"; }

private:
  static void write(const std::filesystem::path& file, const std::string& text) {
    std::ofstream{file} << text;
  }

  std::filesystem::path root_;
};

using handler = std::function<expected<void>(const data_view&, data_writer&)>;

/// The string that is delivered.
expected<std::string> ask(const handler& operation, const data_writer& argument) {
  data_writer result;
  const auto done = operation(data_view::from_valid(argument.bytes()), result);
  if (!done)
    return done.error();
  const auto view = data_view::make(result.bytes());
  REQUIRE(view.has_value());
  return std::string{view->as_string()};
}

expected<std::string> ask(const handler& operation, const data& argument) {
  data_writer encoded;
  encoded.write(argument);
  return ask(operation, encoded);
}

expected<std::string> read(const served_folder& from, const std::string& file, std::uint64_t offset,
                           std::uint64_t size) {
  data_writer argument;
  write_faop(argument, file, offset, size);
  return ask([&](const data_view& x, data_writer& to) { return from(x, to); }, argument);
}

void check_refused(const expected<std::string>& what, errc code, const std::string& context) {
  REQUIRE(!what.has_value());
  CHECK(what.error() == code);
  CHECK(what.error().context() == context);
}

constexpr resolving both_ways[] = {resolving::at_once, resolving::step_by_step};

} // namespace

TEST_CASE("a noop delivers so many zeros") {
  for (const std::size_t size : {0u, 24u, 1'000'000u})
    for (const bool with_ballast : {false, true}) {
      data_writer argument;
      write_noop(argument, size, {}, with_ballast ? 500 : 0);
      CHECK((argument.size_bytes() > 500) == with_ballast);
      CHECK(*ask(noop, argument) == std::string(size, '\0'));
    }
}

TEST_CASE("a noop takes as long as it is told") {
  using clock = std::chrono::steady_clock;
  for (const auto work : {std::chrono::microseconds{50}, std::chrono::microseconds{2'000}}) {
    data_writer argument;
    write_noop(argument, 3, work);
    const auto begin = clock::now();
    CHECK(ask(noop, argument)->size() == 3);
    CHECK(clock::now() - begin >= work);
  }
}

TEST_CASE("a noop that cannot be is refused") {
  check_refused(ask(noop, data{"24"}), errc::type_clash,
                "noop takes a size, or [size, work, ballast]");
  check_refused(ask(noop, data{vector{count{1}, timespan{0}}}), errc::type_clash,
                "noop takes a size, or [size, work, ballast]");
  check_refused(ask(noop, data{count{most_result_bytes + 1}}), errc::limit_exceeded,
                "8388609 bytes: an operation delivers at most 8388608");
  check_refused(ask(noop, data{vector{count{1}, timespan{11'000'000'000}, ""}}),
                errc::limit_exceeded, "an operation takes at most ten seconds");
}

TEST_CASE("parts of files below a served folder are delivered") {
  const scene s;
  for (const auto how : both_ways) {
    const auto served = served_folder::open(s.folder(), how);
    REQUIRE(served.has_value());
    CHECK(*read(*served, "digits", 0, 10) == "0123456789");
    CHECK(*read(*served, "digits", 3, 4) == "3456");
    CHECK(*read(*served, "digits", 10, 0) == "");
    CHECK(*read(*served, "empty", 0, 0) == "");
    CHECK(*read(*served, "below/letters", 1, 2) == "bc");
    CHECK(*read(*served, "./below/./letters", 1, 2) == "bc");
  }
}

TEST_CASE("what a file does not have is refused") {
  const scene s;
  const auto served = served_folder::open(s.folder());
  REQUIRE(served.has_value());
  check_refused(read(*served, "digits", 8, 3), errc::end_of_file,
                "3 bytes from 8 on of digits, which has 10");
  check_refused(read(*served, "digits", 11, 0), errc::end_of_file,
                "0 bytes from 11 on of digits, which has 10");
  check_refused(read(*served, "digits", UINT64_MAX, 2), errc::end_of_file,
                "2 bytes from 18446744073709551615 on of digits, which has 10");
  check_refused(read(*served, "digits", 0, most_result_bytes + 1), errc::limit_exceeded,
                "8388609 bytes: an operation delivers at most 8388608");
}

TEST_CASE("what is no plain file is refused") {
  const scene s;
  for (const auto how : both_ways) {
    const auto served = served_folder::open(s.folder(), how);
    REQUIRE(served.has_value());
    check_refused(read(*served, "nothing", 0, 1), errc::cannot_open_file,
                  "nothing: No such file or directory");
    check_refused(read(*served, "", 0, 1), errc::cannot_open_file, ": No such file or directory");
    check_refused(read(*served, "below", 0, 1), errc::cannot_open_file, "below: Is a directory");
    check_refused(read(*served, "digits/x", 0, 1), errc::cannot_open_file,
                  "digits/x: Not a directory");
    check_refused(read(*served, "fifo", 0, 1), errc::cannot_open_file, "fifo is no plain file");
  }
}

TEST_CASE("a name that leaves the served folder is refused") {
  const scene s;
  for (const auto how : both_ways) {
    const auto served = served_folder::open(s.folder(), how);
    REQUIRE(served.has_value());
    for (const auto& name : {std::string{"../secret"}, std::string{"below/../../secret"},
                             s.secret(), std::string{"absolute_link"}, std::string{"upward_link"},
                             std::string{"below/folder_link/secret"}, std::string{".."}})
      check_refused(read(*served, name, 0, 6), errc::invalid_argument,
                    name + " leaves the served folder");
    check_refused(read(*served, std::string{"digits\0/../secret", 17}, 0, 1),
                  errc::invalid_argument, "a name with a zero byte");
  }
}

TEST_CASE("a served folder has to be one") {
  const scene s;
  CHECK(served_folder::open(s.secret()).error() == errc::cannot_open_file);
  CHECK(served_folder::open(s.folder() / "nothing").error() == errc::cannot_open_file);
}

TEST_CASE("a file operation of another form is refused") {
  const scene s;
  const auto served = served_folder::open(s.folder());
  REQUIRE(served.has_value());
  const handler faop = [&](const data_view& x, data_writer& to) { return (*served)(x, to); };
  for (const auto& argument :
       {data{"digits"}, data{vector{"digits", count{0}}},
        data{vector{"digits", integer{0}, count{1}}}, data{vector{count{0}, count{0}, count{0}}}})
    check_refused(ask(faop, argument), errc::type_clash, "faop takes [file, offset, size]");
}
