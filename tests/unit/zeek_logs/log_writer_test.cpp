// SPDX-License-Identifier: BSD-3-Clause
#include "zeek_logs/writing/log_writer.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "support/temporary_folder.hpp"

using namespace pubsub;
using namespace std::chrono_literals;
using zeek::log_writer;

namespace {

using time_point = log_writer::time_point;

/// Twenty past ten, local time.
time_point some_morning() {
  std::tm parts{};
  parts.tm_year = 126;
  parts.tm_mon = 10;
  parts.tm_mday = 27;
  parts.tm_hour = 10;
  parts.tm_min = 20;
  parts.tm_isdst = -1;
  return std::chrono::system_clock::from_time_t(std::mktime(&parts));
}

zeek::log_schema schema_of(std::string path, std::string column, std::uint64_t version = 1,
                           std::string type = "count") {
  return {.path = std::move(path),
          .fields = {{std::move(column), std::move(type)}},
          .version = version};
}

/// A writer with a folder of its own.
struct fixture {
  test::temporary_folder folder;
  time_point now = some_morning();
  std::optional<log_writer> writer;

  explicit fixture(std::chrono::seconds rotate = 0s) {
    auto opened = log_writer::open(
        {.directory = folder / "", .lines = zeek::make_tsv_lines(), .rotate = rotate}, now);
    REQUIRE(opened);
    writer = std::move(*opened);
  }

  void write(const zeek::log_schema& schema, data value) {
    REQUIRE(writer->write({schema, vector{std::move(value)}}, now));
  }
  /// What is in a file but for the lines of its header that are the same for all.
  std::string text_in(const std::string& name) const {
    std::ifstream file{folder / name};
    std::string result;
    for (std::string line; std::getline(file, line);)
      if (!line.starts_with("#") || line.starts_with("#path") || line.starts_with("#open") ||
          line.starts_with("#fields") || line.starts_with("#close"))
        result += line + '\n';
    return result;
  }
  std::vector<std::string> files() const {
    std::vector<std::string> result;
    for (const auto& each : std::filesystem::directory_iterator{folder / ""})
      result.push_back(each.path().filename());
    std::ranges::sort(result);
    return result;
  }
};

using names = std::vector<std::string>;

} // namespace

TEST_CASE("each log has a file of its own, from its header to its end") {
  fixture x;
  x.write(schema_of("conn", "n"), 1u);
  x.write(schema_of("dns", "m"), 2u);
  CHECK(x.files() == names{"conn.log", "dns.log"});
  x.now += 1s;
  x.write(schema_of("conn", "n"), 3u);
  CHECK(x.text_in("conn.log").empty());
  REQUIRE(x.writer->tick(x.now));
  CHECK(x.text_in("conn.log") == "#path\tconn\n#open\t2026-11-27-10-20-00\n#fields\tn\n1\n3\n");
  x.now += 1s;
  REQUIRE(x.writer->close(x.now));
  CHECK(x.text_in("dns.log") ==
        "#path\tdns\n#open\t2026-11-27-10-20-00\n#fields\tm\n2\n#close\t2026-11-27-10-20-02\n");
  CHECK(x.writer->totals().records == 3);
  CHECK(x.writer->totals().files == 2);
}

TEST_CASE("files are rotated at multiples of the interval, and named after their beginning") {
  fixture x{3600s};
  x.write(schema_of("conn", "n"), 1u);
  x.now += 39min + 59s;
  REQUIRE(x.writer->tick(x.now));
  CHECK(x.files() == names{"conn.log"});
  x.now += 1s;
  REQUIRE(x.writer->tick(x.now));
  CHECK(x.files() == names{"conn.2026-11-27-10-20-00.log"});
  x.now += 61min; // an hour in which nothing comes
  REQUIRE(x.writer->tick(x.now));
  CHECK(x.files().size() == 1);
  x.now += 5min;
  x.write(schema_of("conn", "n"), 2u);
  REQUIRE(x.writer->close(x.now));
  CHECK(x.files() == names{"conn.2026-11-27-10-20-00.log", "conn.2026-11-27-12-01-00.log"});
  CHECK(x.text_in("conn.2026-11-27-10-20-00.log") ==
        "#path\tconn\n#open\t2026-11-27-10-20-00\n#fields\tn\n1\n#close\t2026-11-27-11-00-00\n");
}

TEST_CASE("rotations fall on multiples of the interval since midnight") {
  const auto morning = some_morning();
  CHECK(zeek::next_rotation(morning, 3600s) == morning + 40min);
  CHECK(zeek::next_rotation(morning + 40min, 3600s) == morning + 100min);
  CHECK(zeek::next_rotation(morning + 40min - 1ns, 3600s) == morning + 40min);
  CHECK(zeek::next_rotation(morning, 86'400s) == morning + 13h + 40min);
  CHECK(zeek::next_rotation(morning, 7s) - morning <= 7s);
}

TEST_CASE("a clock that is set back does not keep files from being rotated") {
  fixture x{3600s};
  x.write(schema_of("conn", "n"), 1u);
  x.now -= 48h;
  REQUIRE(x.writer->tick(x.now));
  CHECK(x.files() == names{"conn.log"});
  x.now += 40min;
  REQUIRE(x.writer->tick(x.now));
  CHECK(x.files() == names{"conn.2026-11-27-10-20-00.log"});
}

TEST_CASE("columns that change end the file, and what comes then begins another") {
  fixture x;
  x.write(schema_of("conn", "n"), 1u);
  x.now += 5s;
  x.write(schema_of("conn", "m", 2), 2u);
  x.write(schema_of("conn", "m", 2), 3u);
  REQUIRE(x.writer->close(x.now));
  CHECK(x.files() == names{"conn.2026-11-27-10-20-00.log", "conn.log"});
  CHECK(x.text_in("conn.2026-11-27-10-20-00.log") ==
        "#path\tconn\n#open\t2026-11-27-10-20-00\n#fields\tn\n1\n#close\t2026-11-27-10-20-05\n");
  CHECK(x.text_in("conn.log") ==
        "#path\tconn\n#open\t2026-11-27-10-20-05\n#fields\tm\n2\n3\n#close\t2026-11-27-10-20-05\n");
}

TEST_CASE("columns that change all the time begin a bounded number of files") {
  fixture x;
  const auto changes = log_writer::max_changes_a_minute;
  for (std::uint64_t version = 1; version <= changes + 11; ++version)
    x.write(schema_of("conn", "n", version), 1u);
  CHECK(x.writer->totals().files == changes + 1);
  CHECK(x.writer->totals().restless == 10);
  CHECK(x.files().size() == changes + 1);
  x.now += 1min;
  x.write(schema_of("conn", "n", 1'000), 1u);
  CHECK(x.writer->totals().files == changes + 2);
}

TEST_CASE("a file that is there when its log begins is kept under another name") {
  fixture x;
  std::ofstream{x.folder / "conn.log"} << "earlier\n";
  std::ofstream{x.folder / "secret"} << "not a log\n";
  std::filesystem::create_symlink(x.folder / "secret", x.folder / "dns.log");
  x.write(schema_of("conn", "n"), 1u);
  x.write(schema_of("dns", "n"), 1u);
  REQUIRE(x.writer->close(x.now));
  const auto all = x.files();
  REQUIRE(all.size() == 5);
  CHECK(x.text_in(all[0]) == "earlier\n");
  CHECK(all[1] == "conn.log");
  CHECK(x.text_in("conn.log").starts_with("#path\tconn\n"));
  CHECK(x.text_in("dns.log").starts_with("#path\tdns\n"));
  CHECK(x.text_in("secret") == "not a log\n");
}

TEST_CASE("a file that somebody has moved is ended where it is") {
  fixture x;
  x.write(schema_of("conn", "n"), 1u);
  std::filesystem::rename(x.folder / "conn.log", x.folder / "conn.log.1");
  REQUIRE(x.writer->rotate(x.now));
  CHECK(x.files() == names{"conn.log.1"});
  CHECK(x.text_in("conn.log.1").ends_with("1\n#close\t2026-11-27-10-20-00\n"));
  x.write(schema_of("conn", "n"), 2u);
  CHECK(x.files() == names{"conn.log", "conn.log.1"});
}

TEST_CASE("no name of a log leads out of the directory") {
  fixture x;
  for (const auto* const path :
       {"../escaped", "/etc/passwd", ".hidden", "a/b", "a%2fb", "..", "two words"})
    x.write(schema_of(path, "n"), 1u);
  CHECK(x.files() == names{"%2e.%2fescaped.log", "%2e..log", "%2ehidden.log", "%2fetc%2fpasswd.log",
                           "a%252fb.log", "a%2fb.log", "two%20words.log"});
  for (const auto& path : {std::string{}, std::string(201, 'a'), std::string(70, '/')})
    x.write(schema_of(path, "n"), 1u);
  CHECK(x.writer->totals().bad_logs == 3);
  CHECK(x.writer->totals().records == 7);
}

TEST_CASE("there is a file for a bounded number of logs") {
  fixture x;
  for (std::size_t i = 0; i < log_writer::max_logs + 3; ++i)
    x.write(schema_of("log" + std::to_string(i), "n"), 1u);
  CHECK(x.files().size() == log_writer::max_logs);
  CHECK(x.writer->totals().bad_logs == 3);
}

TEST_CASE("a value that is not of its column's type keeps its record out") {
  fixture x;
  x.write(schema_of("conn", "n"), "no count");
  x.write(schema_of("conn", "n"), none{});
  x.write(schema_of("conn", "n"), -1);
  REQUIRE(x.writer->close(x.now));
  CHECK(x.text_in("conn.log").find("#fields\tn\n-\n#close") != std::string::npos);
  CHECK(x.writer->totals().misfits == 2);
  CHECK(x.writer->first_misfit() == "column 'n' of 'conn' is 'count', and this is not: 'no count'");
}

TEST_CASE("a directory that cannot be written to is refused") {
  const auto opened = log_writer::open({.directory = "/nonexistent/logs"}, some_morning());
  REQUIRE_FALSE(opened);
  CHECK(opened.error().code() == errc::cannot_write_file);
  CHECK(opened.error().context() == "/nonexistent/logs: No such file or directory");
}
