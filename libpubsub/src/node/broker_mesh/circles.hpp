// Circles over Broker peers: messages that leave over one of them and come back over another.
// Pure: no I/O, no threads, no clock.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

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
  bool note(const endpoint_id& from, const endpoint_id& over, std::string_view topic, time now);
  /// Opens what no probe has come back for lately. True if there was such.
  bool expire(time now) {
    return erase_if([now](const auto&, const proof& each) { return now - each.last > memory; });
  }
  /// Opens what is closed by, or for, a peer that is gone. True if there was such.
  template <class Predicate>
  bool keep_if(Predicate is_there) {
    return erase_if([&](const endpoint_id& from, const proof& each) {
      return !is_there(from) || !is_there(each.over);
    });
  }

  /// What is closed, by peer.
  const std::shared_ptr<const closed_topics>& closed() const noexcept { return closed_; }

private:
  struct proof {
    endpoint_id over;
    time last;
  };
  bool erase_if(const std::function<bool(const endpoint_id& from, const proof& each)>& is_void);
  void close_what_is_proved();

  std::map<endpoint_id, std::map<std::string, proof, std::less<>>> proved_; // from -> topics
  std::shared_ptr<const closed_topics> closed_ = std::make_shared<closed_topics>();
};

} // namespace pubsub
