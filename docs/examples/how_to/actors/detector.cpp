// An actor that finds port scans in connections and publishes what it has found.
// Usage: detector tcp://HOST:PORT
#include <cstdio>
#include <map>
#include <memory>
#include <set>

#include <caf/all.hpp>

#include <pubsub/caf/actors.hpp>
#include <pubsub/pubsub.hpp>

namespace {

constexpr std::size_t many_ports = 100;

struct detector_state {
  caf::actor notices;
  std::map<pubsub::address, std::set<pubsub::port>> tried;
};

// A connection is a vector of originator, responder and the responder's port.
void look_at(detector_state& state, const pubsub::data_message& connection) {
  const auto* fields = get_data(connection).get_if<pubsub::vector>();
  if (fields == nullptr || fields->size() != 3)
    return;
  const auto* from = (*fields)[0].get_if<pubsub::address>();
  const auto* port = (*fields)[2].get_if<pubsub::port>();
  if (from == nullptr || port == nullptr)
    return;
  auto& ports = state.tried[*from];
  if (ports.insert(*port).second && ports.size() == many_ports)
    caf::anon_send(state.notices, pubsub::data{"port scan from " + to_string(*from)});
}

caf::behavior detector(caf::event_based_actor* self, pubsub::endpoint* at) {
  const auto state = std::make_shared<detector_state>();
  state->notices = pubsub::caf::spawn_publisher(self->system(), at->make_publisher("site/notices"));
  pubsub::caf::subscribe(self, *at, {"site/connections"});
  self->set_down_handler([=](const caf::down_msg&) { self->quit(); }); // the endpoint is closed
  return {[=](const pubsub::caf::message_batch& batch) {
    for (const auto& each : batch)
      look_at(*state, each);
  }};
}

} // namespace

int main(int argc, char** argv) {
  if (argc != 2)
    return std::fprintf(stderr, "usage: detector tcp://HOST:PORT\n"), 1;
  pubsub::endpoint endpoint;
  if (const auto peered = endpoint.peer(argv[1]); !peered)
    return std::fprintf(stderr, "%s\n", peered.error().message().c_str()), 2;
  caf::actor_system_config config;
  caf::actor_system system{config};
  const auto it = system.spawn(detector, &endpoint);
  std::printf("looking for scans; the end of the input ends this\n");
  while (std::getchar() != EOF) {
  }
  caf::anon_send_exit(it, caf::exit_reason::user_shutdown);
}
