#include "packets.hpp"

#include <flow_monitor/capture.hpp>
#include <flow_monitor/monitor.hpp>
#include <flow_monitor/options.hpp>

#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <unistd.h>

using namespace flow_monitor;
using namespace flow_monitor::test;

namespace {

// A capture file that exists as long as the object.
class capture_file {
public:
  explicit capture_file(const bytes& content) {
    std::string pattern = (std::filesystem::temp_directory_path() / "capture-XXXXXX").string();
    const int fd = ::mkstemp(pattern.data());
    REQUIRE(fd >= 0);
    ::close(fd);
    path_ = pattern;
    std::ofstream{path_, std::ios::binary}.write(reinterpret_cast<const char*>(content.data()),
                                                 static_cast<std::streamsize>(content.size()));
  }
  capture_file(const capture_file&) = delete;
  capture_file& operator=(const capture_file&) = delete;
  ~capture_file() { std::filesystem::remove(path_); }
  [[nodiscard]] const std::string& path() const { return path_; }

private:
  std::string path_;
};

bytes file_header(std::uint32_t magic, std::uint32_t link_type) {
  bytes out;
  put_u32(out, magic);
  put_u16(out, 2);
  put_u16(out, 4);
  put_u32(out, 0);
  put_u32(out, 0);
  put_u32(out, 65535);
  put_u32(out, link_type);
  return out;
}

bytes file_record(std::uint32_t seconds, std::uint32_t fraction, const bytes& frame) {
  bytes out;
  put_u32(out, seconds);
  put_u32(out, fraction);
  put_u32(out, static_cast<std::uint32_t>(frame.size()));
  put_u32(out, static_cast<std::uint32_t>(frame.size()));
  return out + frame;
}

constexpr std::uint32_t magic_microseconds = 0xa1b2c3d4;
constexpr std::uint32_t magic_nanoseconds = 0xa1b23c4d;

const bytes good_frame = ethernet(ether_ipv4, ipv4(udp(text("hello"))));

struct result {
  monitor_counts counts;
  std::vector<conn_record> records;
  std::vector<std::string> complaints;
  std::uint64_t truncated = 0;
  std::uint64_t malformed = 0;
};

result monitor_file(const std::string& path) {
  auto source = capture::open_file(path);
  REQUIRE(source);
  result r;
  monitor m{*source,
            {},
            [&](const conn_record& record) {
              r.records.push_back(record);
              return true;
            },
            [&](const std::string& complaint) { r.complaints.push_back(complaint); }};
  while (m.step() != progress::done) {
  }
  m.finish();
  r.counts = m.counts();
  r.truncated = m.packets().skipped_packets(skip_reason::truncated);
  r.malformed = m.packets().skipped_packets(skip_reason::malformed);
  return r;
}

} // namespace

TEST_CASE("a capture file is read to its end, with its timestamps exact") {
  const capture_file coarse{file_header(magic_microseconds, 1) +
                            file_record(7, 123'456, good_frame)};
  const capture_file fine{file_header(magic_nanoseconds, 1) +
                          file_record(7, 123'456'789, good_frame)};
  const auto from_coarse = monitor_file(coarse.path());
  const auto from_fine = monitor_file(fine.path());
  REQUIRE(from_coarse.records.size() == 1);
  REQUIRE(from_fine.records.size() == 1);
  CHECK(from_coarse.records[0].ts.time_since_epoch() == std::chrono::nanoseconds{7'123'456'000});
  CHECK(from_fine.records[0].ts.time_since_epoch() == std::chrono::nanoseconds{7'123'456'789});
  CHECK(from_coarse.counts.packets == 1);
  CHECK(from_coarse.complaints.empty());
}

TEST_CASE("a bad packet is named by file and number, and the rest goes on") {
  const bytes bad(good_frame.begin(), good_frame.begin() + 30);
  const capture_file file{file_header(magic_microseconds, 1) + file_record(1, 0, good_frame) +
                          file_record(2, 0, bad) + file_record(3, 0, good_frame)};
  const auto r = monitor_file(file.path());
  CHECK(r.counts.packets == 3);
  CHECK(r.truncated + r.malformed == 1);
  REQUIRE(r.complaints.size() == 1);
  CHECK(r.complaints[0].starts_with(file.path() + ": packet 2: "));
  REQUIRE(r.records.size() == 1);
  CHECK(r.records[0].orig_pkts == 2);
}

TEST_CASE("a capture file cut off at any byte gives its whole packets and one complaint") {
  const bytes header = file_header(magic_microseconds, 1);
  const bytes one = file_record(1, 0, good_frame);
  const bytes whole = header + one + one;
  for (std::size_t kept = header.size(); kept <= whole.size(); ++kept) {
    CAPTURE(kept);
    const capture_file file{
        bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(kept))};
    const auto r = monitor_file(file.path());
    const auto packets = (kept - header.size()) / one.size();
    const bool is_cut = (kept - header.size()) % one.size() != 0;
    CHECK(r.records.size() == (packets > 0 ? 1U : 0U));
    if (packets > 0)
      CHECK(r.records[0].orig_pkts == packets);
    CHECK(r.counts.broken_reads == (is_cut ? 1U : 0U));
    REQUIRE(r.complaints.size() == (is_cut ? 1U : 0U));
    if (is_cut)
      CHECK(r.complaints[0].starts_with(file.path() + ": packet " + std::to_string(packets + 1) +
                                        ": "));
  }
}

TEST_CASE("what cannot be opened says why and names itself") {
  const auto missing = capture::open_file("/nonexistent/trace.pcap");
  REQUIRE_FALSE(missing);
  CHECK(missing.error() == pubsub::errc::cannot_open_file);
  CHECK(missing.error().context().find("/nonexistent/trace.pcap") != std::string::npos);

  const capture_file no_capture{text("this is no capture file at all, whatever its name says")};
  const auto garbage = capture::open_file(no_capture.path());
  REQUIRE_FALSE(garbage);
  CHECK(garbage.error().context().find(no_capture.path()) != std::string::npos);

  const capture_file radio{file_header(magic_microseconds, 147)};
  const auto unknown = capture::open_file(radio.path());
  REQUIRE_FALSE(unknown);
  CHECK(unknown.error().context().find("link type 147") != std::string::npos);

  const auto interface = capture::open_interface("no-such-if0");
  REQUIRE_FALSE(interface);
  CHECK(interface.error().context().find("no-such-if0") != std::string::npos);
}

TEST_CASE("a filter lets only matching packets through, and a wrong one is refused") {
  const capture_file file{file_header(magic_microseconds, 1) + file_record(1, 0, good_frame)};
  auto source = capture::open_file(file.path());
  REQUIRE(source);
  const auto wrong = source->set_filter("port of call");
  REQUIRE_FALSE(wrong);
  CHECK(wrong.error() == pubsub::errc::invalid_argument);
  REQUIRE(source->set_filter("tcp"));
  captured_frame frame;
  CHECK(source->next(frame) == read_state::end);
}

TEST_CASE("a command line that leaves nothing to do is a usage error") {
  const auto exit_code_of = [](std::initializer_list<const char*> arguments) {
    std::vector<const char*> argv{"flow_monitor"};
    argv.insert(argv.end(), arguments);
    const auto parsed = parse_options(static_cast<int>(argv.size()), argv.data());
    const int* code = std::get_if<int>(&parsed);
    return code != nullptr ? *code : -1;
  };
  CHECK(exit_code_of({}) == 1);
  CHECK(exit_code_of({"--read", "x.pcap"}) == 1);
  CHECK(exit_code_of({"--write", "conn.log"}) == 1);
  CHECK(exit_code_of({"--read", "x.pcap", "--interface", "eth0", "--write", "conn.log"}) == 1);
  CHECK(exit_code_of({"--read", "x.pcap", "--write", "conn.log", "--max-flows", "0"}) == 1);
  CHECK(exit_code_of({"--read", "x.pcap", "--write", "conn.log", "--wait-subscribers", "1"}) == 1);
  CHECK(exit_code_of({"--read", "x.pcap", "--write", "conn.log", "--duration", "3"}) == 1);
  CHECK(exit_code_of({"--read", "x.pcap", "--listen", "tcp://:0", "--topic", "<$>/x"}) == 1);
  CHECK(exit_code_of({"--read", "x.pcap", "--write", "conn.log"}) == -1);
  CHECK(exit_code_of({"--interface", "eth0", "--listen", "tcp://127.0.0.1:0", "--duration", "3"}) ==
        -1);
}

TEST_CASE("options reach the parts they belong to") {
  const std::vector<const char*> argv{"flow_monitor",
                                      "--read",
                                      "-",
                                      "--peer",
                                      "tcp://a:1",
                                      "--peer",
                                      "tcp://b:2",
                                      "--tcp-timeout",
                                      "1.5",
                                      "--udp-timeout",
                                      "2",
                                      "--max-flows",
                                      "7",
                                      "--timeout",
                                      "0.25",
                                      "--count",
                                      "9"};
  const auto parsed = parse_options(static_cast<int>(argv.size()), argv.data());
  REQUIRE(std::holds_alternative<options>(parsed));
  const auto& o = std::get<options>(parsed);
  CHECK(o.peer_uris == std::vector<std::string>{"tcp://a:1", "tcp://b:2"});
  CHECK(o.limits.tcp_timeout == std::chrono::milliseconds{1500});
  CHECK(o.limits.udp_timeout == std::chrono::seconds{2});
  CHECK(o.limits.max_flows == 7);
  CHECK(o.timeout == std::chrono::milliseconds{250});
  CHECK(o.max_packets == 9);
  CHECK(o.topic == "zeek/records/conn");
}
