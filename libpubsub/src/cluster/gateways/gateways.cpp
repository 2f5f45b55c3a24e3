// SPDX-License-Identifier: BSD-3-Clause
#include <pubsub/cluster/gateways.hpp>

#include <pubsub/cluster/websocket_member.hpp>
#include <pubsub/cluster/zeromq_member.hpp>
#include <pubsub/endpoint_options.hpp>

#include <algorithm>
#include <memory>
#include <utility>

namespace pubsub::cluster {

namespace {

/// How a counter is called and explained.
template <class Counters>
struct described {
  std::string_view name;
  std::string_view help;
  std::uint64_t Counters::*member;
  bool lost = false;
};

constexpr described<member_counters> common_table[] = {
    {"connections", "Times that the cluster was reached.", &member_counters::connections},
    {"left_to_partner", "Events and records that another member in the same network has passed on.",
     &member_counters::left_to_partner},
    {"events_received", "Events from the cluster that were published.",
     &member_counters::events_received},
    {"events_sent", "Events handed over to the cluster.", &member_counters::events_sent},
    {"unwanted", "Events from the cluster without a subscriber.", &member_counters::unwanted},
    {"dropped", "Events from the cluster for which the queue was full.", &member_counters::dropped,
     true},
    {"refused", "Events from the cluster with a topic or size that is not allowed.",
     &member_counters::refused, true},
    {"malformed", "Events or logs from the cluster that cannot be read.",
     &member_counters::malformed, true},
    {"not_events", "Messages for the cluster that are no Zeek events.",
     &member_counters::not_events, true},
    {"unsent", "Events for the cluster when it was lost.", &member_counters::unsent, true},
};

constexpr described<zeromq_counters> zeromq_table[] = {
    {"own", "Events that came back.", &zeromq_counters::own},
    {"log_batches", "Batches of log records that came.", &zeromq_counters::log_batches},
    {"log_records", "Records in those that were published.", &zeromq_counters::log_records},
    {"log_records_sent", "Records of the network handed over to loggers.",
     &zeromq_counters::log_records_sent},
    {"log_batches_sent", "Batches in which they were.", &zeromq_counters::log_batches_sent},
    {"log_records_unreadable", "Records of the network with unknown columns or types.",
     &zeromq_counters::log_records_unreadable, true},
    {"log_records_unsent", "Records of the network that no logger took.",
     &zeromq_counters::log_records_unsent, true},
};

constexpr described<websocket_counters> websocket_table[] = {
    {"extended", "Further connections to a WebSocket server, as the network wanted more topics.",
     &websocket_counters::extended},
    {"replaced", "Times that one connection to a WebSocket server took the place of all.",
     &websocket_counters::replaced},
    {"repeated", "Events of which another connection to the WebSocket server brings the topic.",
     &websocket_counters::repeated},
    {"errors", "Messages of a WebSocket server that something was wrong.",
     &websocket_counters::errors},
};

/// A member as a gateway.
template <class Member, const auto& table>
class member_gateway final : public gateway {
public:
  explicit member_gateway(Member member) : member_(std::move(member)) {}

  bool wait_connected(std::chrono::nanoseconds timeout) const override {
    return member_.wait_connected(timeout);
  }
  std::string problem() const override { return member_.problem(); }
  std::vector<gateway_counter> counters() const override {
    const auto now = member_.counters();
    std::vector<gateway_counter> result;
    const auto describe = [&](const auto& each) {
      result.push_back({each.name, each.help, now.*each.member, each.lost});
    };
    std::ranges::for_each(common_table, describe);
    std::ranges::for_each(table, describe);
    return result;
  }
  void leave() override { member_.leave(); }

private:
  Member member_;
};

/// The options of the link hold for both of its directions. What came from the cluster may not have
/// to wait.
void use_log_queue(zeromq_options& to) {
  to.log_queue = to.incoming;
}
void use_log_queue(websocket_options&) {}

template <class Options>
void use_queue(Options& to, const peer_options& from) {
  if (!from.link_queue)
    return;
  to.outgoing = *from.link_queue;
  to.incoming.capacity_messages = from.link_queue->capacity_messages;
  to.incoming.capacity_bytes = from.link_queue->capacity_bytes;
  if (from.link_queue->policy == overflow_policy::drop_oldest ||
      from.link_queue->policy == overflow_policy::conflate)
    to.incoming.policy = from.link_queue->policy;
  use_log_queue(to);
}

/// `parse` makes options of an address.
template <class Member, const auto& table, class Parse>
gateway_scheme scheme_of(std::string name, Parse parse) {
  return {.name = std::move(name),
          .check = [parse](std::string_view uri) -> expected<void> {
            const auto options = parse(uri);
            return options ? check(*options) : options.error();
          },
          .open = [parse](const endpoint& ep, gateway_host host,
                          const peer_options& link) -> expected<std::unique_ptr<gateway>> {
            auto options = parse(host.uri);
            if (!options)
              return options.error();
            use_queue(*options, link);
            auto member = Member::join(ep, std::move(*options), std::move(host));
            if (!member)
              return member.error();
            return std::unique_ptr<gateway>{
                std::make_unique<member_gateway<Member, table>>(std::move(*member))};
          }};
}

} // namespace

std::vector<gateway_scheme> gateways() {
  const auto websocket = [](std::string_view uri) { return websocket_options_from(uri); };
  return {scheme_of<zeromq_member, zeromq_table>(
              "zeek+zmq", [](std::string_view uri) { return zeromq_options_from(uri); }),
          scheme_of<websocket_member, websocket_table>("ws", websocket),
          scheme_of<websocket_member, websocket_table>("wss", websocket)};
}

} // namespace pubsub::cluster
