// Actors that send each other messages: over endpoints of libpubsub, or, with --pattern remote, by
// the actor framework's own middleman, which has no relays. A message is what Broker's is in
// peer_broker: a vector of a count and a string, or an integer and a string.
// SPDX-License-Identifier: BSD-3-Clause
#include "support/numbered.hpp"
#include "support/run.hpp"

#include <chrono>
#include <stdexcept>
#include <string>

#include <caf/all.hpp>
#include <caf/io/all.hpp>
#include <unistd.h>

#include <pubsub/caf/actors.hpp>
#include <pubsub/data_view.hpp>
#include <pubsub/data_writer.hpp>

namespace bench {

namespace {

constexpr const char* stream_topic = "bench/stream";
constexpr std::chrono::seconds patience{30};

// -- over endpoints ------------------------------------------------------------------------------

pubsub::endpoint make_relay() {
  pubsub::endpoint_options options;
  options.forwarding = pubsub::forwarding::on;
  return pubsub::endpoint{options};
}

int listen_at(pubsub::endpoint& node) {
  const auto port = node.listen("tcp://127.0.0.1:0");
  if (!port)
    throw std::runtime_error(port.error().context());
  return *port;
}

void peer_with(pubsub::endpoint& node, int port) {
  if (const auto peered = node.peer("tcp://127.0.0.1:" + std::to_string(port)); !peered)
    throw std::runtime_error(peered.error().context());
}

void subscribe(run_state& state, const run_options& options) {
  auto node = make_relay();
  const auto port = listen_at(node);
  caf::actor_system_config config;
  caf::actor_system system{config};
  numbered_sink sink{state, options};
  system.spawn([&](caf::event_based_actor* self) -> caf::behavior {
    pubsub::caf::subscribe(self, node, {stream_topic});
    state.tell_port(0, port);
    return {[&, self](const pubsub::caf::message_batch& batch) {
      for (const auto& each : batch) {
        const auto number = (*pubsub::get_view(each).elements().begin()).as_count();
        if (!sink.take(&number))
          return self->quit();
      }
    }};
  });
  system.await_all_actors_done();
}

void relay(run_state& state, unsigned stage) {
  auto node = make_relay();
  peer_with(node, state.wait_for_port(stage - 1));
  state.tell_port(stage, listen_at(node));
  for (;;)
    ::pause(); // its threads forward until the process is killed
}

void publish(run_state& state, const run_options& options) {
  pubsub::endpoint node;
  peer_with(node, state.wait_for_port(options.relays));
  if (!node.wait_for_subscribers(stream_topic, 1, patience))
    throw std::runtime_error("there is no subscriber");
  caf::actor_system_config config;
  caf::actor_system system{config};
  // It may block, as an actor with a thread of its own.
  system.spawn<caf::detached>([&](caf::event_based_actor*) {
    auto out = node.make_publisher(stream_topic);
    const auto text = std::string(options.payload_bytes, 'x');
    pubsub::data_writer value;
    publish_stream(state, options, 0, [&](auto message) {
      value.clear();
      value.begin_vector(2);
      value.write_count(number_of(message.data()));
      value.write_string(text);
      (void)out.publish(value.bytes());
    });
  });
  system.await_all_actors_done();
}

// -- the framework's own -------------------------------------------------------------------------

/// Mailboxes have no bound, so no more than these are on their way.
constexpr std::uint64_t window = 65'536;

struct with_middleman : caf::actor_system_config {
  with_middleman() { load<caf::io::middleman>(); }
};

void receive_remotely(run_state& state, const run_options& options) {
  with_middleman config;
  caf::actor_system system{config};
  numbered_sink sink{state, options};
  const auto reader = system.spawn([&](caf::event_based_actor* self) -> caf::behavior {
    return {[&, self](std::uint64_t number, const std::string&) {
      if (!sink.take(&number))
        self->quit();
    }};
  });
  const auto port = system.middleman().publish(reader, 0, "127.0.0.1");
  if (!port)
    throw std::runtime_error(caf::to_string(port.error()));
  state.tell_port(0, *port);
  system.await_all_actors_done();
}

void send_remotely(run_state& state, const run_options& options) {
  with_middleman config;
  caf::actor_system system{config};
  const auto port = static_cast<std::uint16_t>(state.wait_for_port(0));
  const auto reader = system.middleman().remote_actor("127.0.0.1", port);
  if (!reader)
    throw std::runtime_error(caf::to_string(reader.error()));
  caf::scoped_actor self{system};
  const auto text = std::string(options.payload_bytes, 'x');
  publish_stream(state, options, window, [&](auto message) {
    self->send(*reader, std::uint64_t{number_of(message.data())}, text);
  });
}

} // namespace

} // namespace bench

int main(int argc, char** argv) {
  using namespace bench;
  const auto options =
      parse_options(argc, argv, "Actors, over libpubsub or by themselves.", {"pubsub", "remote"});
  if (options.local())
    return report_unavailable("actors", "only chains are measured");
  if (options.pattern == "remote")
    return run("CAF", std::to_string(CAF_VERSION), options,
               {.subscribe = [&](run_state& state) { receive_remotely(state, options); },
                .relay = {},
                .publish = [&](run_state& state) { send_remotely(state, options); }});
  return run("libpubsub", PEER_VERSION, options,
             {.subscribe = [&](run_state& state) { subscribe(state, options); },
              .relay = relay,
              .publish = [&](run_state& state) { publish(state, options); }});
}
