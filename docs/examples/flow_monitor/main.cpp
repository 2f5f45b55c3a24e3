// Wires the parts together: options, capture, outputs, signals, summary.

#include "capture.hpp"
#include "monitor.hpp"
#include "options.hpp"
#include "record_publisher.hpp"
#include "zeek_log.hpp"

#include <pubsub/pubsub.hpp>

#include <fmt/format.h>

#include <csignal>
#include <cstdio>
#include <exception>
#include <optional>
#include <string>

namespace {

using namespace flow_monitor;
using steady = std::chrono::steady_clock;

enum exit_code : int { exit_ok = 0, exit_usage = 1, exit_cannot_open = 2, exit_timeout = 4 };

volatile std::sig_atomic_t stop_requested = 0;

void request_stop(int) {
  stop_requested = 1;
}

// The second Ctrl-C ends the program at once, should anything hang.
void install_signal_handlers() {
  struct sigaction action {};
  action.sa_handler = request_stop;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

template <class... Args>
void say(fmt::format_string<Args...> text, Args&&... args) {
  fmt::print(stderr, "flow_monitor: {}\n", fmt::format(text, std::forward<Args>(args)...));
}

pubsub::endpoint_options endpoint_options_for(const options& o) {
  pubsub::endpoint_options result;
  // A file can wait for slow subscribers. A network cannot: there the oldest records go instead,
  // and are counted.
  result.link_queue.policy = o.interface_name.empty() ? pubsub::overflow_policy::block
                                                      : pubsub::overflow_policy::drop_oldest;
  return result;
}

exit_code explain(std::string_view what, const std::string& uri, const pubsub::error& why) {
  say("cannot {} {}: {}", what, uri, why.message());
  return why == pubsub::errc::invalid_argument ? exit_usage : exit_cannot_open;
}

exit_code connect(pubsub::endpoint& endpoint, const options& o) {
  for (const auto& uri : o.listen_uris) {
    const auto port = endpoint.listen(uri);
    if (!port)
      return explain("listen at", uri, port.error());
    say("listening at {}:{}", uri.substr(0, uri.rfind(':')), *port);
  }
  for (const auto& uri : o.peer_uris) {
    pubsub::peer_options how;
    how.timeout = o.timeout;
    if (const auto ok = endpoint.peer(uri, how); !ok)
      return explain("connect to", uri, ok.error());
  }
  return exit_ok;
}

// In short waits, so that Ctrl-C is heard in between.
bool wait_for_subscribers(const pubsub::publisher& channel, const options& o) {
  const auto deadline = steady::now() + o.timeout;
  while (stop_requested == 0) {
    const auto left = deadline - steady::now();
    const auto slice = std::min<steady::duration>(left, std::chrono::milliseconds{200});
    if (channel.wait_for_subscribers(o.wait_subscribers, std::max(slice, steady::duration{})))
      return true;
    if (left <= steady::duration{}) {
      say("only {} of {} subscribers for {} after {} s", channel.subscribers(), o.wait_subscribers,
          channel.topic(), std::chrono::duration<double>(o.timeout).count());
      return false;
    }
  }
  return true;
}

// Complaints about packets: the first ones in full, all of them in the summary.
class complaints {
public:
  void operator()(const std::string& text) {
    constexpr std::uint64_t shown = 20;
    if (++count_ <= shown)
      say("{}", text);
    if (count_ == shown)
      say("further packets like these are only counted");
  }

private:
  std::uint64_t count_ = 0;
};

void summarise(const monitor& m, const capture& source, const record_publisher* publisher) {
  std::string skipped;
  for (std::size_t i = 0; i < skip_reason_count; ++i) {
    const auto reason = static_cast<skip_reason>(i);
    skipped += fmt::format("{}{} {}", i == 0 ? "" : ", ", to_string(reason),
                           m.packets().skipped_packets(reason));
  }
  const auto& counts = m.counts();
  say("{} packets, {} bytes, {} records", counts.packets, counts.bytes, counts.records);
  say("skipped packets: {}", skipped);
  if (counts.broken_reads > 0)
    say("the capture could not be read to its end");
  if (m.flows().evicted_flows() > 0)
    say("{} connections ended early because the table was full; see --max-flows",
        m.flows().evicted_flows());
  if (const auto dropped = source.dropped_packets().value_or(0); dropped > 0)
    say("{} packets arrived too fast and were dropped by the system", dropped);
  if (publisher != nullptr)
    say("published {} records; {} met no subscriber, {} were dropped", publisher->published(),
        publisher->unwanted(), publisher->dropped());
}

struct outputs {
  std::optional<pubsub::endpoint> endpoint;
  std::optional<record_publisher> publisher;
  std::optional<zeek_log> log;
  bool has_write_error = false;

  bool write(const conn_record& record);
  exit_code close(const options& o);
};

bool outputs::write(const conn_record& record) {
  auto values = to_values(record);
  if (log && !has_write_error)
    if (const auto ok = log->write(values); !ok) {
      say("{}", ok.error().message());
      has_write_error = true;
    }
  if (publisher)
    publisher->publish(std::move(values));
  return !has_write_error;
}

exit_code outputs::close(const options& o) {
  if (log && !has_write_error)
    if (const auto ok = log->close(pubsub::now()); !ok) {
      say("{}", ok.error().message());
      has_write_error = true;
    }
  std::size_t waiting = 0;
  if (endpoint) {
    waiting = endpoint->flush(o.timeout);
    if (waiting > 0)
      say("{} messages could not be delivered within {} s", waiting,
          std::chrono::duration<double>(o.timeout).count());
    endpoint->close(std::chrono::seconds{3});
  }
  if (has_write_error)
    return exit_cannot_open;
  return waiting > 0 ? exit_timeout : exit_ok;
}

pubsub::expected<capture> open_source(const options& o) {
  auto source = o.interface_name.empty() ? capture::open_file(o.read_file)
                                         : capture::open_interface(o.interface_name);
  if (source && !o.filter.empty())
    if (const auto ok = source->set_filter(o.filter); !ok)
      return ok.error();
  return source;
}

exit_code open_outputs(const options& o, outputs& out) {
  if (!o.write_file.empty()) {
    auto log = zeek_log::open(o.write_file, pubsub::now());
    if (!log) {
      say("{}", log.error().message());
      return exit_cannot_open;
    }
    out.log.emplace(*std::move(log));
  }
  if (!o.has_publishing())
    return exit_ok;
  out.endpoint.emplace(endpoint_options_for(o));
  if (const auto code = connect(*out.endpoint, o); code != exit_ok)
    return code;
  out.publisher.emplace(*out.endpoint, o.topic);
  return wait_for_subscribers(out.publisher->channel(), o) ? exit_ok : exit_timeout;
}

// Until the input ends, an option or a signal says stop, or the log cannot be written.
void follow(monitor& m, const options& o) {
  constexpr std::chrono::milliseconds longest_drain{500};
  const auto begin = steady::now();
  while (stop_requested == 0 && !(o.duration && steady::now() - begin >= *o.duration)) {
    if (m.step() == progress::done)
      return;
    if (o.max_packets && m.counts().packets >= *o.max_packets)
      return;
  }
  if (!o.interface_name.empty())
    m.drain(longest_drain);
}

exit_code run(const options& o) {
  auto source = open_source(o);
  if (!source) {
    say("{}", source.error().context());
    return source.error() == pubsub::errc::invalid_argument ? exit_usage : exit_cannot_open;
  }
  outputs out;
  if (const auto code = open_outputs(o, out); code != exit_ok)
    return code;

  monitor m{*source, o.limits, [&](const conn_record& r) { return out.write(r); }, complaints{}};
  follow(m, o);
  m.finish();
  const auto code = out.close(o);
  summarise(m, *source, out.publisher ? &*out.publisher : nullptr);
  return code;
}

} // namespace

int main(int argc, char** argv) {
  try {
    const auto parsed = parse_options(argc, argv);
    if (const int* code = std::get_if<int>(&parsed))
      return *code;
    install_signal_handlers();
    return run(std::get<options>(parsed));
  } catch (const std::exception& e) {
    say("{}", e.what());
    return exit_cannot_open;
  }
}
