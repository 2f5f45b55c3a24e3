// Broker as a peer. It takes whatever a publisher sends and keeps it in memory, so no more than a
// window of messages is on its way. A message is what ours is: a vector of a count and a string.
// SPDX-License-Identifier: BSD-3-Clause
#include "support/numbered.hpp"
#include "support/run.hpp"

#include <chrono>
#include <stdexcept>
#include <string>

#include <broker/broker.hh>
#include <unistd.h>

namespace bench {

namespace {

constexpr std::uint64_t window = 65'536;
constexpr std::size_t queue_messages = 8192;
const broker::topic stream_topic{"bench/stream"};

broker::configuration plain_tcp() {
  broker::broker_options options;
  options.disable_ssl = true;
  options.ignore_broker_conf = true;
  return broker::configuration{options};
}

void publish_over(broker::endpoint& out, run_state& state, const run_options& options) {
  auto text = std::string(options.payload_bytes, 'x');
  auto send = [&](auto message) {
    out.publish(stream_topic, broker::vector{broker::count{number_of(message.data())}, text});
  };
  probe_until_seen(state, options.payload_bytes, send);
  if (!options.repeated())
    return publish_stream(state, options, window, send);
  auto shared =
      broker::make_data_message(stream_topic, broker::data{broker::vector{broker::count{0}, text}});
  publish_stream(state, options, window, [&](auto message) {
    if (number_of(message.data()) == end_mark)
      send(message);
    else
      out.publish(shared);
  });
}

void receive_from(broker::subscriber& in, run_state& state, const run_options& options) {
  numbered_sink sink{state, options};
  auto visit = [&](const broker::data_message& message) {
    const auto& fields = caf::get<broker::vector>(broker::get_data(message));
    auto number = caf::get<broker::count>(fields.at(0));
    return sink.take(&number);
  };
  for (bool more = true; more;) {
    more = visit(in.get(1).front()); // waits
    for (const auto& message : in.poll())
      more = visit(message) && more;
  }
}

// Whether an endpoint hands what it publishes to its own subscribers depends on Broker's version.
bool delivers_locally(broker::endpoint& both, broker::subscriber& in) {
  both.publish(stream_topic, broker::vector{broker::count{probe_mark}, std::string{}});
  return in.get(broker::timespan{std::chrono::seconds{3}}) != caf::none;
}

int run_local(const run_options& options) {
  broker::endpoint both{plain_tcp()};
  auto in = both.make_subscriber({stream_topic}, queue_messages);
  auto version = broker::version::string();
  if (!delivers_locally(both, in)) {
    auto reason = version + " delivers nothing within one endpoint";
    return report_unavailable("Broker", reason);
  }
  return run("Broker", version, options,
             {.subscribe = [&](run_state& state) { receive_from(in, state, options); },
              .relay = {},
              .publish = [&](run_state& state) { publish_over(both, state, options); }});
}

void subscribe(run_state& state, const run_options& options) {
  broker::endpoint node{plain_tcp()};
  auto in = node.make_subscriber({stream_topic}, queue_messages);
  state.tell_port(0, node.listen("127.0.0.1", 0));
  receive_from(in, state, options);
}

void peer_with(broker::endpoint& node, int port) {
  if (!node.peer("127.0.0.1", static_cast<std::uint16_t>(port)))
    throw std::runtime_error("cannot peer with port " + std::to_string(port));
}

void relay(run_state& state, unsigned stage) {
  broker::endpoint node{plain_tcp()};
  node.forward({stream_topic});
  peer_with(node, state.wait_for_port(stage - 1));
  state.tell_port(stage, node.listen("127.0.0.1", 0));
  for (;;)
    ::pause(); // its threads forward until the process is killed
}

void publish(run_state& state, const run_options& options) {
  broker::endpoint node{plain_tcp()};
  peer_with(node, state.wait_for_port(options.relays));
  publish_over(node, state, options);
}

} // namespace

} // namespace bench

int main(int argc, char** argv) {
  using namespace bench;
  auto options = parse_options(argc, argv, "Broker as a peer.");
  if (options.local())
    return run_local(options);
  return run("Broker", broker::version::string(), options,
             {.subscribe = [&](run_state& state) { subscribe(state, options); },
              .relay = relay,
              .publish = [&](run_state& state) { publish(state, options); }});
}
