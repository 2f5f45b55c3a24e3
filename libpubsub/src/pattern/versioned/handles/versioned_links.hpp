// The partners to which a replica or client of a group sends.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

#include "pattern/mailbox/partner.hpp"
#include "pattern/versioned/protocol/member_list.hpp"
#include "pattern/versioned/protocol/versioned_port.hpp"

namespace pubsub::pattern {

/// Whether a message to all replicas that has no subscriber counts as sent.
enum class without_subscribers : std::uint8_t { is_sent, is_not_sent };

/// Not thread-safe.
class versioned_links final : public versioned_port {
public:
  using time = partner::time;

  versioned_links(const std::shared_ptr<endpoint>& at, std::string_view group,
                  without_subscribers when_alone)
      : when_alone_(when_alone), all_replicas_(at->make_publisher(topic_of_replicas(group))),
        everyone_(at->make_publisher(topic_of_status(group))), replicas_(at, topic_of_replica),
        clients_(at, topic_of_client) {}

  bool send(versioned_target to, const endpoint_id& id,
            std::span<const std::byte> message) override {
    switch (to) {
    case versioned_target::all_replicas:
      return send_to_all(all_replicas_, message);
    case versioned_target::everyone:
      return send_to_all(everyone_, message);
    case versioned_target::replica:
      return replicas_[id].send(message) == partner::outcome::sent;
    case versioned_target::client:
      return clients_[id].send(message) == partner::outcome::sent;
    }
    return false;
  }

  /// Which of these replicas are gone since the last call. Forgets clients that are out of reach.
  id_list find_lost(const id_list& replicas, time now) {
    for (const auto& each : replicas)
      (void)replicas_[each];
    auto gone = replicas_.find_gone(now);
    for (const auto& each : gone)
      replicas_.erase(each);
    for (const auto& each : clients_.find_forgotten(now))
      clients_.erase(each);
    return gone;
  }

private:
  bool send_to_all(partner& to, std::span<const std::byte> message) const {
    const auto result = to.send(message);
    return result == partner::outcome::sent ||
           (when_alone_ == without_subscribers::is_sent && result != partner::outcome::full);
  }

  const without_subscribers when_alone_;
  partner all_replicas_;
  partner everyone_;
  partner_map replicas_;
  partner_map clients_;
};

} // namespace pubsub::pattern
