// Circles over Broker peers: messages that leave over one of them and come back over another.
// Pure: no I/O, no threads, no clock.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <pubsub/filter.hpp>
#include <pubsub/value/endpoint_id.hpp>

namespace pubsub {

/// Broker peers that pass messages on may be linked with one another, unknown to nodes: a message
/// that goes out over one of them then comes back over another, as if it were new, and would go
/// round without end. So nodes send *probes* over each of them, and what comes back proves a circle
/// for all topics that begin so. Of the two peers the one with the larger id is *closed* for these
/// topics: nothing goes to it or is taken from it, because its messages and those for it pass the
/// other. That lasts as long as probes come back.
class circles {
public:
  using time = std::chrono::steady_clock::time_point;
  using closed_topics = std::unordered_map<endpoint_id, filter>;

  static constexpr std::chrono::milliseconds time_between_probes{500};
  static constexpr std::chrono::milliseconds memory{3000}; // of a probe that came back
  static constexpr std::size_t max_topics = 1024;          // of one peer

  /// A probe on `topic` that was sent over `over` has come back over `from`. True if that closes
  /// what was open.
  bool note(const endpoint_id& from, const endpoint_id& over, std::string_view topic, time now) {
    if (!(over < from))
      return false; // there the other one is closed
    auto& topics = proved_[from];
    if (const auto found = topics.find(topic); found != topics.end()) {
      found->second = {over, now};
      return false;
    }
    if (topics.size() >= max_topics)
      return false;
    topics.emplace(topic, proof{over, now});
    close_what_is_proved();
    return true;
  }
  /// Opens what no probe has come back for lately. True if there was such.
  bool expire(time now) {
    return erase_if([&](const auto&, const proof& each) { return now - each.last > memory; });
  }
  /// Opens what is closed by, or for, a peer that is gone. True if there was such.
  template <class Predicate>
  bool keep_if(Predicate is_there) {
    return erase_if([&](const endpoint_id& from, const proof& each) {
      return !is_there(from) || !is_there(each.over);
    });
  }

  const std::shared_ptr<const closed_topics>& closed() const noexcept { return closed_; }

private:
  struct proof {
    endpoint_id over;
    time last;
  };
  template <class Predicate>
  bool erase_if(Predicate is_void) {
    std::size_t erased = 0;
    for (auto& [from, topics] : proved_)
      erased += std::erase_if(
          topics, [&, &from = from](const auto& each) { return is_void(from, each.second); });
    std::erase_if(proved_, [](const auto& each) { return each.second.empty(); });
    if (erased > 0)
      close_what_is_proved();
    return erased > 0;
  }
  void close_what_is_proved() {
    auto result = std::make_shared<closed_topics>();
    for (const auto& [from, topics] : proved_) {
      std::vector<std::string> prefixes; // std::views::keys fails with clang before 16
      for (const auto& each : topics)
        prefixes.push_back(each.first);
      result->emplace(from, filter{std::move(prefixes)});
    }
    closed_ = std::move(result);
  }

  std::map<endpoint_id, std::map<std::string, proof, std::less<>>> proved_; // from -> topics
  std::shared_ptr<const closed_topics> closed_ = std::make_shared<closed_topics>();
};

} // namespace pubsub
