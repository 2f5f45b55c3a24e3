// The ways out of a replica or client, as publishers of an endpoint.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include <pubsub/endpoint.hpp>
#include <pubsub/publisher.hpp>

#include "pattern/versioned/replica_books.hpp"

namespace pubsub::pattern {

/// Whether a message that nobody else wants counts as sent.
enum class unwanted : std::uint8_t { is_sent, is_not_sent };

/// Not thread-safe.
class versioned_ways final : public versioned_port {
public:
  versioned_ways(endpoint& at, std::string_view group, unwanted when_alone)
      : at_(at), when_alone_(when_alone), replicas_(at.make_publisher(topic_of_replicas(group))),
        everyone_(at.make_publisher(topic_of_status(group))) {}

  bool to_replicas(std::span<const std::byte> message) override {
    return send(replicas_, message, when_alone_);
  }
  bool to_replica(const endpoint_id& id, std::span<const std::byte> message) override {
    return send(link_to(id, topic_of_replica).out, message, unwanted::is_not_sent);
  }
  bool to_client(const endpoint_id& id, std::span<const std::byte> message) override {
    return send(link_to(id, topic_of_client).out, message, unwanted::is_not_sent);
  }
  bool to_everyone(std::span<const std::byte> message) override {
    return send(everyone_, message, when_alone_);
  }

  /// Looks after those known to be replicas: who was within reach and is no more, since the last
  /// call. Forgets all others that are gone.
  std::vector<endpoint_id> find_lost(const std::vector<endpoint_id>& replicas) {
    for (const auto& each : replicas)
      link_to(each, topic_of_replica);
    std::vector<endpoint_id> lost;
    for (auto each = links_.begin(); each != links_.end();) {
      auto& its = each->second;
      const bool there = its.out.subscribers() > 0;
      const bool gone = its.seen && !there;
      its.seen = there;
      if (gone)
        lost.push_back(each->first);
      each = gone ? links_.erase(each) : std::next(each);
    }
    return lost;
  }

private:
  struct link {
    publisher out;
    bool seen = false;
  };

  static bool send(publisher& out, std::span<const std::byte> message, unwanted when_alone) {
    const auto result = out.publish_encoded(message, std::chrono::nanoseconds{0});
    return result == publish_result::taken || result == publish_result::dropped ||
           (when_alone == unwanted::is_sent && result != publish_result::would_block);
  }
  link& link_to(const endpoint_id& id, std::string (*topic)(const endpoint_id&)) {
    auto found = links_.find(id);
    if (found == links_.end())
      found = links_.emplace(id, link{at_.make_publisher(topic(id))}).first;
    return found->second;
  }

  endpoint& at_;
  const unwanted when_alone_;
  publisher replicas_;
  publisher everyone_;
  std::map<endpoint_id, link> links_; // an id is a replica's or a client's
};

} // namespace pubsub::pattern
