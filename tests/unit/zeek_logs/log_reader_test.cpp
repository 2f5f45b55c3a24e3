// SPDX-License-Identifier: BSD-3-Clause
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "zeek_logs/line_reader.hpp"
#include "zeek_logs/log_reader.hpp"

using namespace pubsub;

namespace {

// A file of its own that goes away with the test.
class scratch_file {
public:
  explicit scratch_file(std::string_view content = {}) {
    char name[] = "/tmp/pubsub_test_XXXXXX";
    REQUIRE(::mkdtemp(name));
    folder_ = name;
    path_ = folder_ / "conn.log";
    append(content);
  }
  ~scratch_file() { std::filesystem::remove_all(folder_); }

  void append(std::string_view content) const {
    std::ofstream{path_, std::ios::app | std::ios::binary} << content;
  }
  void replace(std::string_view content) const {
    std::filesystem::rename(path_, folder_ / "old.log");
    append(content);
  }
  std::string path() const { return path_.string(); }

private:
  std::filesystem::path folder_;
  std::filesystem::path path_;
};

std::string next_text(line_reader& reader) {
  auto line = reader.next();
  if (!line)
    return "error: " + line.error().context();
  return *line ? std::string{**line} : "nothing";
}

constexpr std::string_view header =
    "#separator \\x09\n#path\tconn\n#fields\ta\tb\n#types\tcount\taddr\n";

} // namespace

TEST_CASE("lines come without line ends, the last one also without line feed") {
  scratch_file file{"one\ntwo\r\n\nlast"};
  auto reader = line_reader::open(file.path());
  REQUIRE(reader);
  CHECK(next_text(*reader) == "one");
  CHECK(next_text(*reader) == "two");
  CHECK(reader->line() == 2);
  CHECK(next_text(*reader) == "");
  CHECK(next_text(*reader) == "last");
  CHECK(next_text(*reader) == "nothing");
  CHECK(next_text(*reader) == "nothing");
}

TEST_CASE("a file that cannot be read is an error that names it") {
  auto missing = line_reader::open("/tmp/no/such/file.log");
  REQUIRE_FALSE(missing);
  CHECK(missing.error() == errc::cannot_open_file);
  CHECK(missing.error().context() == "/tmp/no/such/file.log: No such file or directory");
  auto folder = line_reader::open("/tmp");
  REQUIRE_FALSE(folder);
  CHECK(folder.error().context() == "/tmp: Is a directory");
}

TEST_CASE("a line beyond the limit is an error, is skipped, and the next one is read") {
  scratch_file file{"first\n"};
  std::string chunk(1 << 20, 'x');
  for (int i = 0; i < 40; ++i)
    file.append(chunk);
  file.append("\nafter\n");
  auto reader = line_reader::open(file.path());
  REQUIRE(reader);
  CHECK(next_text(*reader) == "first");
  CHECK(next_text(*reader) ==
        "error: " + file.path() + ":2: the line is longer than 16 MiB and is skipped");
  CHECK(next_text(*reader) == "after");
  CHECK(reader->line() == 3);
  CHECK(next_text(*reader) == "nothing");
}

TEST_CASE("following gives only complete lines and goes on with what is appended") {
  scratch_file file{"one\ntw"};
  auto reader = line_reader::open(file.path(), reading::follow);
  REQUIRE(reader);
  CHECK(next_text(*reader) == "one");
  CHECK(next_text(*reader) == "nothing");
  file.append("o\nthree\n");
  CHECK(next_text(*reader) == "two");
  CHECK(next_text(*reader) == "three");
  CHECK(next_text(*reader) == "nothing");
}

TEST_CASE("following opens the new file after a rotation") {
  scratch_file file{"one\n"};
  auto reader = line_reader::open(file.path(), reading::follow);
  REQUIRE(reader);
  CHECK(next_text(*reader) == "one");
  CHECK(next_text(*reader) == "nothing");
  file.replace("new\n");
  CHECK(next_text(*reader) == "new");
  std::filesystem::resize_file(file.path(), 0);
  CHECK(next_text(*reader) == "nothing");
  file.append("again\n");
  CHECK(next_text(*reader) == "again");
}

TEST_CASE("a bad record names file and line and reading goes on") {
  scratch_file file{std::string{header} + "1\t10.0.0.1\nbad\n2\t10.0.0.x\n3\t::1\n#close\tx\n"};
  auto reader = zeek::log_reader::open(file.path());
  REQUIRE(reader);
  auto first = reader->next();
  REQUIRE(first);
  REQUIRE(*first);
  CHECK((*first)->line == 5);
  auto short_one = reader->next();
  REQUIRE_FALSE(short_one);
  CHECK(short_one.error().context() == file.path() + ":6: the record has 1 columns, the header 2");
  auto bad_address = reader->next();
  REQUIRE_FALSE(bad_address);
  CHECK(bad_address.error().context() ==
        file.path() + ":7: column 'b': '10.0.0.x' is not of type addr");
  auto last = reader->next();
  REQUIRE(last);
  REQUIRE(*last);
  CHECK((*last)->values == vector{data{3U}, data{*address::parse("::1")}});
  auto end = reader->next();
  REQUIRE(end);
  CHECK_FALSE(*end);
  CHECK(reader->schema().path == "conn");
}

TEST_CASE("a JSON log without a parser for it is refused by name") {
  scratch_file file{"{\"ts\":1.0}\n"};
  auto reader = zeek::log_reader::open(file.path());
  REQUIRE(reader);
  auto record = reader->next();
  REQUIRE_FALSE(record);
  CHECK(record.error() == errc::not_supported);
}

TEST_CASE("a file cut off at any byte gives its whole records") {
  std::string whole{header};
  whole += "1\t10.0.0.1\n2\t10.0.0.2\n";
  for (std::size_t length = 0; length <= whole.size(); ++length) {
    scratch_file file{std::string_view{whole}.substr(0, length)};
    auto reader = zeek::log_reader::open(file.path(), {.mode = reading::follow});
    REQUIRE(reader);
    std::size_t records = 0;
    for (;;) {
      auto record = reader->next();
      REQUIRE(record); // an incomplete line is not looked at
      if (!*record)
        break;
      ++records;
    }
    auto complete_lines =
        std::count(whole.begin(), whole.begin() + static_cast<long>(length), '\n');
    CHECK(records == static_cast<std::size_t>(std::max(complete_lines - 4L, 0L)));
  }
}
