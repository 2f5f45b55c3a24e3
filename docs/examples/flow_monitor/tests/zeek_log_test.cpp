#include <flow_monitor/record.hpp>
#include <flow_monitor/zeek_log.hpp>

#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

using namespace flow_monitor;
using namespace std::chrono_literals;

namespace {

// A directory of its own for each test, removed afterwards.
struct temporary_directory {
  temporary_directory() {
    std::string pattern = (std::filesystem::temp_directory_path() / "flow-monitor-XXXXXX").string();
    REQUIRE(::mkdtemp(pattern.data()) != nullptr);
    path = pattern;
  }
  ~temporary_directory() { std::filesystem::remove_all(path); }
  std::filesystem::path path;
};

const pubsub::timestamp start{1'700'000'000'123'456'789ns};

conn_record sample() {
  conn_record r;
  r.ts = start;
  r.uid = "C1";
  r.orig_h = pubsub::address::v4(0x0a000001);
  r.orig_p = 40000;
  r.resp_h = *pubsub::address::parse("2001:db8::2");
  r.resp_p = 53;
  r.proto = transport::udp;
  r.service = "dns";
  r.duration = 1'500'000'000ns;
  r.orig_bytes = 10;
  r.resp_bytes = 0;
  r.conn_state = "SF";
  r.local_orig = true;
  r.local_resp = false;
  r.history = "Dd";
  r.orig_pkts = 1;
  r.orig_ip_bytes = 38;
  r.ip_proto = 17;
  r.orig_l2_addr = mac_address{2, 0, 0, 0, 0, 0xab};
  return r;
}

} // namespace

TEST_CASE("a record has one value for each column, of the column's type") {
  const auto values = to_values(sample());
  REQUIRE(values.size() == column_count);
  CHECK(values[0] == pubsub::data{start}); // exact to the nanosecond
  CHECK(values[1] == pubsub::data{"C1"});
  CHECK(values[3] == pubsub::data{pubsub::port{40000, pubsub::transport::udp}});
  CHECK(values[6] == pubsub::data{pubsub::enum_value{"udp"}});
  CHECK(values[8] == pubsub::data{pubsub::timespan{1'500'000'000}});
  CHECK(values[9] == pubsub::data{std::uint64_t{10}});
  CHECK(values[12] == pubsub::data{true});
  CHECK(values[20].is<pubsub::none>());
  CHECK(values[22] == pubsub::data{"02:00:00:00:00:ab"});
  CHECK(values[23].is<pubsub::none>());
}

TEST_CASE("the schema names every column with its type") {
  const auto described = schema();
  CHECK(described.path == "conn");
  REQUIRE(described.fields.size() == column_count);
  CHECK(described.fields[0].name == "ts");
  CHECK(described.fields[0].type == "time");
  CHECK(described.fields[20].name == "tunnel_parents");
  CHECK(described.fields[20].type == "set[string]");
}

TEST_CASE("a record becomes one line with a field for each column") {
  CHECK(to_line(to_values(sample())) == "1700000000.123456\tC1\t10.0.0.1\t40000\t2001:db8::"
                                        "2\t53\tudp\tdns\t1.500000\t10\t0\tSF\tT\tF\t0\t"
                                        "Dd\t1\t38\t0\t0\t-\t17\t02:00:00:00:00:ab\t-");
}

TEST_CASE("what the log's own marks are made of is escaped") {
  CHECK(escape("plain", false) == "plain");
  CHECK(escape("a\tb\nc", false) == "a\\x09b\\x0ac");
  CHECK(escape("back\\slash", false) == "back\\x5cslash");
  CHECK(escape("-", false) == "\\x2d");
  CHECK(escape("--", false) == "--");
  CHECK(escape("(empty)", false) == "\\x28empty)");
  CHECK(escape("", false) == "(empty)");
  CHECK(escape("a,b", false) == "a,b");
  CHECK(escape("a,b", true) == "a\\x2cb");
  CHECK(escape(std::string_view{"\0\x7f\xff", 3}, false) == "\\x00\\x7f\\xff");
}

TEST_CASE("every byte a string can hold leaves neither tab nor newline in its field") {
  std::string all;
  for (int byte = 0; byte < 256; ++byte)
    all.push_back(static_cast<char>(byte));
  const auto field = to_field(pubsub::data{all});
  CHECK(field.find_first_of("\t\n\r") == std::string::npos);
}

TEST_CASE("unset, empty and full sets are written apart") {
  CHECK(to_field(pubsub::data{}) == "-");
  CHECK(to_field(pubsub::data{pubsub::set{}}) == "(empty)");
  CHECK(to_field(pubsub::data{pubsub::set{pubsub::data{"a,1"}, pubsub::data{"b"}}}) == "a\\x2c1,b");
}

TEST_CASE("times and intervals have six decimals and keep their sign") {
  CHECK(to_field(pubsub::data{pubsub::timespan{1'999}}) == "0.000001");
  CHECK(to_field(pubsub::data{pubsub::timespan{-1'500'000'000}}) == "-1.500000");
  CHECK(to_field(pubsub::data{pubsub::timestamp{}}) == "0.000000");
}

TEST_CASE("a log file has the header and trailer of Zeek's conn.log") {
  const temporary_directory directory;
  const auto path = (directory.path / "conn.log").string();
  auto log = zeek_log::open(path, start);
  REQUIRE(log);
  CHECK(log->write(to_values(sample())));
  CHECK(log->close(start + 1s));
  std::ifstream file{path};
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);)
    lines.push_back(line);
  REQUIRE(lines.size() == 10);
  CHECK(lines[0] == "#separator \\x09");
  CHECK(lines[1] == "#set_separator\t,");
  CHECK(lines[2] == "#empty_field\t(empty)");
  CHECK(lines[3] == "#unset_field\t-");
  CHECK(lines[4] == "#path\tconn");
  CHECK(lines[5] == "#open\t2023-11-14-22-13-20");
  CHECK(lines[6].starts_with("#fields\tts\tuid\tid.orig_h\tid.orig_p\t"));
  CHECK(lines[6].ends_with("\tip_proto\torig_l2_addr\tresp_l2_addr"));
  CHECK(lines[7].starts_with("#types\ttime\tstring\taddr\tport\taddr\tport\tenum\t"));
  CHECK(lines[9] == "#close\t2023-11-14-22-13-21");
}

TEST_CASE("a log that cannot be written says so and names the file") {
  const auto nowhere = zeek_log::open("/nonexistent/conn.log", start);
  REQUIRE_FALSE(nowhere);
  CHECK(nowhere.error() == pubsub::errc::cannot_write_file);
  CHECK(nowhere.error().context().find("/nonexistent/conn.log") != std::string::npos);
  auto full = zeek_log::open("/dev/full", start);
  if (full)
    CHECK_FALSE(full->close(start));
}
