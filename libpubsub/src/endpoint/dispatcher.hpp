// Topic to exits, remembered per topic: what a publishing thread or a link asks for every message.
#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "endpoint/router.hpp"

namespace pubsub {

/// Which exits are open to the messages of one origin.
struct exits {
  bool queues = true;
  bool links = true;
  const link* except = nullptr; // messages never go back to where they came from
};

/// A cache of routes over the router's snapshot. Thread-safety: one thread.
class dispatcher {
public:
  dispatcher(const router& source, exits open) : router_(source), open_(open) {}

  /// Takes over the current snapshot. True if there was a change: routes resolved before are void.
  bool refresh() {
    const auto now = router_.version();
    if (now == version_ && topics_.size() <= max_cached_topics)
      return false;
    reset(now);
    return true;
  }
  /// The exits for `topic`; valid until the next `refresh`. Topics with the same exits share one
  /// route.
  const route& resolve(std::string_view topic) {
    if (last_ != nullptr && topic == last_topic_)
      return *last_;
    return find(topic);
  }
  /// The link to this peer, or null.
  std::shared_ptr<link> link_to(const endpoint_id& peer) const;

private:
  static constexpr std::size_t max_cached_topics = 4096;
  using exit_span = std::span<bounded_queue* const>;

  /// Void unless it has the version of the snapshot: after a change topics keep their places, so
  /// that what they take now costs a match and no memory.
  struct cached {
    const route* to = nullptr; // in routes_
    std::uint64_t version = 0; // none has this
  };

  struct text_hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const noexcept {
      return std::hash<std::string_view>{}(text);
    }
  };
  struct exits_hash {
    using is_transparent = void;
    std::size_t operator()(exit_span to) const noexcept;
    std::size_t operator()(const route& x) const noexcept { return (*this)(x.to_all()); }
  };
  struct exits_equal {
    using is_transparent = void;
    bool operator()(exit_span to, const route& x) const noexcept {
      return std::ranges::equal(to, x.to_all());
    }
    bool operator()(const route& x, exit_span to) const noexcept { return (*this)(to, x); }
    bool operator()(const route& x, const route& y) const noexcept {
      return (*this)(x.to_all(), y);
    }
  };

  void reset(std::uint64_t version);
  const route& find(std::string_view topic);
  const route* match(std::string_view topic);
  const route* remember();

  const router& router_;
  const exits open_;
  std::uint64_t version_ = 0;
  std::shared_ptr<const routing_snapshot> snapshot_;
  std::unordered_set<route, exits_hash, exits_equal> routes_;
  std::unordered_map<std::string, cached, text_hash, std::equal_to<>> topics_;
  std::string_view last_topic_; // points into topics_
  const route* last_ = nullptr;

  // What the match at hand has found; kept for their memory.
  std::vector<const prefix_index<std::shared_ptr<message_queue>>::target*> found_queues_;
  std::vector<const prefix_index<std::shared_ptr<link>>::target*> found_links_;
  std::vector<bounded_queue*> found_exits_;
};

} // namespace pubsub
