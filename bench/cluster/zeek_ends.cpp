// SPDX-License-Identifier: BSD-3-Clause
#include "cluster/zeek_ends.hpp"

#include "costs/codec_samples.hpp"
#include "kit/child_report.hpp"
#include "kit/process_usage.hpp"
#include "support/zmq_handles.hpp"
#include "terminal.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <optional>
#include <stdexcept>
#include <string_view>

#include <fmt/format.h>

#include <pubsub/binary.hpp>
#include <pubsub/cluster/gateways.hpp>
#include <pubsub/cluster/websocket_server.hpp>
#include <pubsub/cluster/zeromq_proxy.hpp>
#include <pubsub/endpoint.hpp>

namespace pubsub::tool::bench {

namespace {

using ::bench::checked;
using ::bench::zmq_context;
using ::bench::zmq_end;
using ::bench::zmq_message;

constexpr auto patience = std::chrono::seconds{30};
constexpr int patience_ms = 30'000;
constexpr std::size_t most_at_a_time = 1'000;
constexpr const char* topic_of_events = "bench/events";
constexpr const char* topic_of_end = "bench/end";

/// Times a stream from its first event to its last.
class stopwatch {
public:
  void begin() {
    begin_ = clock::now();
    cpu_ = cpu_time();
  }
  void report(std::uint64_t events) const {
    const std::chrono::duration<double> seconds = clock::now() - begin_;
    const std::chrono::duration<double> cpu = cpu_time() - cpu_;
    report_line("done",
                fmt::format("events={} seconds={} cpu={}", events, seconds.count(), cpu.count()));
  }

private:
  clock::time_point begin_;
  std::chrono::nanoseconds cpu_{};
};

/// Room for all events, where a queue would drop what does not fit: those of gateways and of
/// clients of servers do.
queue_options room_for(std::uint64_t events, overflow_policy policy) {
  return {.policy = policy,
          .capacity_messages = std::max<std::size_t>(2 * events, 65'536),
          .capacity_bytes = std::size_t{1} << 40U};
}

// -- bare libzmq --------------------------------------------------------------------------------

bool asks_for_events(std::string_view subscription) {
  return !subscription.empty() && subscription[0] == '\1' &&
         (subscription.size() == 1 || subscription.substr(1).starts_with("bench"));
}

/// Until a node subscribes. Subscriptions are passed on to `others`, as a proxy does; a socket of
/// libzmq takes in a new connection, and tells it of them, only while it is looked at.
void wait_for_subscription(zmq_end& publishing, zmq_end* others) {
  zmq_pollitem_t items[] = {{publishing.handle(), 0, ZMQ_POLLIN, 0},
                            {others != nullptr ? others->handle() : nullptr, -1, ZMQ_POLLIN, 0}};
  for (bool found = false; !found;) {
    if (checked(zmq_poll(items, others != nullptr ? 2 : 1, patience_ms), "zmq_poll") == 0)
      throw std::runtime_error("no node has subscribed in time");
    if ((items[0].revents & ZMQ_POLLIN) == 0)
      continue;
    zmq_message message;
    checked(zmq_msg_recv(message.get(), publishing.handle(), 0), "waiting for a subscription");
    found =
        asks_for_events({static_cast<const char*>(message.data()), zmq_msg_size(message.get())});
    if (others != nullptr)
      checked(zmq_msg_send(message.get(), others->handle(), 0), "zmq_msg_send");
  }
}

void send_event(zmq_end& to, std::string_view topic, const std::vector<std::byte>& event) {
  constexpr std::string_view sender = "zeromq_bench_host_1_x";
  constexpr std::string_view format = "broker-bin-v1";
  for (const auto frame : {topic, sender, format})
    checked(zmq_send(to.handle(), frame.data(), frame.size(), ZMQ_SNDMORE), "zmq_send");
  checked(zmq_send(to.handle(), event.data(), event.size(), 0), "zmq_send");
}

void send_all(zmq_end& to, const zeek_end_options& options, const std::vector<std::byte>& event) {
  stopwatch watch;
  watch.begin();
  for (std::uint64_t i = 0; i < options.events; ++i)
    send_event(to, topic_of_events, event);
  send_event(to, topic_of_end, event);
  watch.report(options.events);
}

/// Receives all frames of every event, and looks at the topic only.
void receive_all(zmq_end& from) {
  stopwatch watch;
  from.set(ZMQ_RCVTIMEO, patience_ms);
  for (std::uint64_t events = 0;; ++events) {
    bool ended = false;
    zmq_message frame;
    for (bool first = true, more = true; more; first = false) {
      checked(zmq_msg_recv(frame.get(), from.handle(), 0), "waiting for an event");
      if (first)
        ended = std::string_view{static_cast<const char*>(frame.data()),
                                 zmq_msg_size(frame.get())} == topic_of_end;
      more = zmq_msg_more(frame.get()) != 0;
    }
    if (events == 0)
      watch.begin();
    if (ended)
      return watch.report(events);
  }
}

// -- libpubsub ----------------------------------------------------------------------------------

expected<void> connect(endpoint& ep, const zeek_end_options& options) {
  peer_options link;
  link.link_queue = room_for(options.events, overflow_policy::block);
  return ep.peer(options.uri, link);
}

exit_code receive_all(subscriber& from) {
  stopwatch watch;
  std::vector<data_message> batch;
  for (std::uint64_t events = 0;;) {
    batch.clear();
    if (from.get_batch_for(batch, most_at_a_time, patience) != receive_status::received)
      return fail({errc::request_timeout, fmt::format("no more came after {} events", events)});
    if (events == 0)
      watch.begin();
    for (const auto& each : batch) {
      if (get_topic(each) == topic_of_end) {
        watch.report(events);
        return exit_code::ok;
      }
      ++events;
    }
  }
}

exit_code send_all(endpoint& ep, const zeek_end_options& options,
                   const std::vector<std::byte>& event) {
  if (!ep.wait_for_subscribers(topic_of_events, 1, patience) ||
      !ep.wait_for_subscribers(topic_of_end, 1, patience))
    return fail({errc::request_timeout, "nobody subscribes"});
  stopwatch watch;
  watch.begin();
  for (std::uint64_t i = 0; i < options.events; ++i)
    (void)ep.publish(topic_of_events, event); // what is not taken, the receiver misses
  (void)ep.publish(topic_of_end, event);
  watch.report(options.events);
  return exit_code::ok;
}

endpoint_options with_gateways() {
  endpoint_options result;
  result.gateways = cluster::gateways();
  return result;
}

// -- the processes ------------------------------------------------------------------------------

expected<cluster::zeromq_proxy> start_proxy() {
  cluster::zeromq_proxy_options options;
  options.listen_xsub = options.listen_xpub = "tcp://127.0.0.1:0";
  options.patience = patience;
  auto proxy = cluster::zeromq_proxy::start(options);
  if (proxy) {
    const auto port_of = [](const std::string& address) {
      return address.substr(address.rfind(':') + 1);
    };
    report_line("ready", fmt::format("xsub={} xpub={}", port_of(proxy->xsub_address()),
                                     port_of(proxy->xpub_address())));
  }
  return proxy;
}

/// A server of a WebSocket, at an endpoint that sends or receives.
exit_code run_server(const zeek_end_options& options, const std::vector<std::byte>& event) {
  endpoint ep;
  auto subscribed = options.role == "sink" ? std::optional{ep.make_subscriber({"bench/"})}
                                           : std::optional<subscriber>{};
  cluster::websocket_server_options listening;
  listening.address = "ws://127.0.0.1:0";
  listening.ping_interval = {}; // a reader that is slow is no reader that is gone
  listening.queue = room_for(options.events, overflow_policy::drop_newest);
  const auto server = cluster::websocket_server::start(ep, listening);
  if (!server)
    return fail(server.error());
  report_line("ready", fmt::format("port={}", server->port()));
  const auto outcome = subscribed ? receive_all(*subscribed) : send_all(ep, options, event);
  wait_for_parent();
  return outcome;
}

/// The side that others connect to. Without a proxy it does itself what one does.
exit_code run_bus(const zeek_end_options& options, const std::vector<std::byte>& event) {
  std::optional<cluster::zeromq_proxy> proxy;
  const zmq_context context;
  const bool sends = options.role == "source";
  zmq_end end{context, sends ? ZMQ_XPUB : ZMQ_SUB};
  std::optional<zmq_end> others;
  if (options.way == "proxy") {
    auto started = start_proxy();
    if (!started)
      return fail(started.error());
    proxy = std::move(*started);
    end.connect(sends ? proxy->xsub_address() : proxy->xpub_address());
  } else {
    others.emplace(context, ZMQ_XSUB);
    const auto xpub = end.bind_tcp();
    report_line("ready", fmt::format("xsub={} xpub={}", others->bind_tcp(), xpub));
  }
  if (sends) {
    wait_for_subscription(end, others ? &*others : nullptr);
    send_all(end, options, event);
  } else
    receive_all(end);
  wait_for_parent();
  return exit_code::ok;
}

/// Connects as a node of a cluster, or as a client of a server.
exit_code run_node(const zeek_end_options& options, const std::vector<std::byte>& event) {
  endpoint ep{with_gateways()};
  const bool sends = options.role == "writer";
  auto subscribed =
      sends ? std::optional<subscriber>{} : std::optional{ep.make_subscriber({"bench/"})};
  if (const auto connected = connect(ep, options); !connected)
    return fail(connected.error());
  if (!sends)
    return receive_all(*subscribed);
  const auto outcome = send_all(ep, options, event);
  wait_for_parent();
  return outcome;
}

exit_code run_bare_node(const zeek_end_options& options, const std::vector<std::byte>& event) {
  const zmq_context context;
  const bool sends = options.role == "writer";
  zmq_end end{context, sends ? ZMQ_XPUB : ZMQ_SUB};
  end.connect(::bench::tcp_address(static_cast<int>(sends ? options.xsub : options.xpub)));
  if (!sends) {
    receive_all(end);
    return exit_code::ok;
  }
  wait_for_subscription(end, nullptr);
  send_all(end, options, event);
  wait_for_parent();
  return exit_code::ok;
}

} // namespace

std::vector<std::byte> encoded_event(const std::string& log) {
  std::vector<std::byte> result;
  const auto sample = sample_of_log(log);
  if (!sample)
    complain(tool::explain(sample.error()) + "; name a Zeek log with --input");
  else if (const auto encoded = encode_binary(sample->value, result); !encoded)
    complain(tool::explain(encoded.error()));
  return result;
}

exit_code run_zeek_end(const zeek_end_options& options) {
  const auto event = encoded_event(options.input);
  if (event.empty())
    return exit_code::usage;
  try {
    if (options.role == "source" || options.role == "sink")
      return options.way == "websocket" ? run_server(options, event) : run_bus(options, event);
    return options.who == "bare" ? run_bare_node(options, event) : run_node(options, event);
  } catch (const std::exception& problem) {
    complain(problem.what());
    return exit_code::connect;
  }
}

} // namespace pubsub::tool::bench
