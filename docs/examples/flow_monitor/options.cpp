#include "options.hpp"

#include <pubsub/topic.hpp>

#include <CLI/CLI.hpp>

#include <cmath>

namespace flow_monitor {
namespace {

constexpr const char* description =
    "Turns packets into connection records and publishes each one as its connection ends.\n"
    "Records are Zeek events named log_conn whose argument is a vector in the column order of\n"
    "Zeek's conn.log; the event log_fields on the same topic names the columns.";

const CLI::Range seconds_range{0.001, 3.2e9, "0.001 to a century"};
const CLI::Range count_range{std::uint64_t{1}, std::uint64_t{1} << 40, "1 or more"};

constexpr const char* examples = R"(Examples:
  Connections in a capture file, as a Zeek log on the terminal:
    flow_monitor --read trace.pcap --write /dev/stdout
  Watch an interface and let any number of subscribers connect:
    flow_monitor --interface eth0 --listen tcp://0.0.0.0:9999
  Publish to a relay, and start only when somebody listens there:
    flow_monitor --read trace.pcap --peer tcp://relay:9999 --wait-subscribers 1 --timeout 30
  One minute of web traffic, published and logged:
    flow_monitor --interface eth0 --filter "tcp port 80 or tcp port 443" --duration 60 \
                 --peer tcp://relay:9999 --write conn.log

Ctrl-C ends a live capture: connections under way are reported as they stand, what is queued for
subscribers is sent, and a summary goes to stderr.
Exit codes: 0 ok, 1 usage, 2 cannot open, connect or write, 4 timeout.
)";

// Options that CLI11 reads as a number of seconds.
struct seconds_options {
  double timeout = 10;
  double tcp_timeout = 300;
  double udp_timeout = 60;
  double duration = 0;
};

void add_input(CLI::App& app, options& result, seconds_options& seconds, std::uint64_t& count) {
  auto* read = app.add_option("--read", result.read_file, "Capture file to read; - for stdin")
                   ->type_name("FILE");
  auto* live = app.add_option("--interface", result.interface_name, "Network interface to watch")
                   ->type_name("IF");
  read->excludes(live);
  app.add_option("--filter", result.filter, "Take only packets that match, as with tcpdump")
      ->type_name("BPF");
  app.add_option("--count", count, "Stop after so many packets")
      ->type_name("N")
      ->check(count_range);
  app.add_option("--duration", seconds.duration, "Stop a live capture after so many seconds")
      ->type_name("SECONDS")
      ->check(seconds_range)
      ->needs(live);
}

void add_output(CLI::App& app, options& result, seconds_options& seconds) {
  app.add_option("--write", result.write_file, "Write the records as a Zeek log")
      ->type_name("FILE");
  app.add_option("--listen", result.listen_uris, "Accept subscribers here; port 0 picks one")
      ->type_name("URI");
  app.add_option("--peer", result.peer_uris, "Connect to this node; may be repeated")
      ->type_name("URI");
  app.add_option("--topic", result.topic, "Topic to publish on")
      ->type_name("TOPIC")
      ->capture_default_str();
  app.add_option("--wait-subscribers", result.wait_subscribers,
                 "Begin only when so many peers want the topic")
      ->type_name("N");
  app.add_option("--timeout", seconds.timeout, "Longest wait to connect, for subscribers, to drain")
      ->type_name("SECONDS")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
}

void add_limits(CLI::App& app, options& result, seconds_options& seconds) {
  app.add_option("--tcp-timeout", seconds.tcp_timeout, "A TCP connection silent for longer ends")
      ->type_name("SECONDS")
      ->check(seconds_range)
      ->capture_default_str();
  app.add_option("--udp-timeout", seconds.udp_timeout, "The same for UDP and ICMP")
      ->type_name("SECONDS")
      ->check(seconds_range)
      ->capture_default_str();
  app.add_option("--max-flows", result.limits.max_flows,
                 "Connections kept at once; one more ends the longest silent")
      ->type_name("N")
      ->check(count_range)
      ->capture_default_str();
}

std::chrono::milliseconds to_duration(double seconds) {
  // A century is as good as for ever, and far from overflow.
  return std::chrono::milliseconds{std::llround(std::min(seconds, 3.2e9) * 1000)};
}

void check_combination(const options& result) {
  if (result.read_file.empty() && result.interface_name.empty())
    throw CLI::ValidationError{"nothing to read: give --read FILE or --interface IF"};
  if (result.write_file.empty() && !result.has_publishing())
    throw CLI::ValidationError{"nothing to do with the records: give --write, --listen or --peer"};
  if (pubsub::is_reserved_topic(result.topic) ||
      result.topic.size() > pubsub::topic::max_size_bytes)
    throw CLI::ValidationError{"--topic: contains <$>, which is reserved, or is too long"};
  if (result.wait_subscribers > 0 && !result.has_publishing())
    throw CLI::ValidationError{"--wait-subscribers needs --listen or --peer"};
}

} // namespace

std::variant<options, int> parse_options(int argc, const char* const* argv) {
  CLI::App app{description, "flow_monitor"};
  app.footer(examples);
  options result;
  seconds_options seconds;
  std::uint64_t count = 0;
  add_input(app, result, seconds, count);
  add_output(app, result, seconds);
  add_limits(app, result, seconds);
  try {
    app.parse(argc, argv);
    if (count > 0)
      result.max_packets = count;
    if (seconds.duration > 0)
      result.duration = to_duration(seconds.duration);
    result.timeout = to_duration(seconds.timeout);
    result.limits.tcp_timeout = to_duration(seconds.tcp_timeout);
    result.limits.udp_timeout = to_duration(seconds.udp_timeout);
    check_combination(result);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : 1;
  }
  return result;
}

} // namespace flow_monitor
