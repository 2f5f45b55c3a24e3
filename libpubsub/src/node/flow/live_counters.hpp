// Counting without contention: each thread counts for itself, readers add up.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include <pubsub/counters.hpp>

#include "base/counter_sums.hpp"
#include "link/peer_link.hpp"
#include "queue/message_queue.hpp"

namespace pubsub {

/// A counter with one writing thread and any number of readers.
class live_counter {
public:
  [[gnu::always_inline]] void add(std::uint64_t n) noexcept {
    value_.store(value_.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
  }
  std::uint64_t get() const noexcept { return value_.load(std::memory_order_relaxed); }

private:
  std::atomic<std::uint64_t> value_{0};
};

/// What one publishing thread or one link has counted.
struct live_counters {
  live_counter published, unwanted, dropped, would_block;
  live_counter refused_topic, refused_size, refused_closed, refused_empty;
  live_counter received, forwarded, ttl_expired, unreachable, no_subscriber, duplicates;
  live_counter withheld, screened_out, denied, limited, malformed_frames, silent_peers;

  publisher_counters of_publisher() const noexcept {
    const auto x = of_endpoint();
    return {x.published,     x.unwanted,     x.dropped,        x.would_block,
            x.refused_topic, x.refused_size, x.refused_closed, x.refused_empty};
  }
  endpoint_counters of_endpoint() const noexcept {
    endpoint_counters x;
    x.published = published.get();
    x.unwanted = unwanted.get();
    x.dropped = dropped.get();
    x.would_block = would_block.get();
    x.refused_topic = refused_topic.get();
    x.refused_size = refused_size.get();
    x.refused_closed = refused_closed.get();
    x.refused_empty = refused_empty.get();
    x.received = received.get();
    x.forwarded = forwarded.get();
    x.ttl_expired = ttl_expired.get();
    x.unreachable = unreachable.get();
    x.no_subscriber = no_subscriber.get();
    x.duplicates = duplicates.get();
    x.withheld = withheld.get();
    x.screened_out = screened_out.get();
    x.denied = denied.get();
    x.limited = limited.get();
    x.malformed_frames = malformed_frames.get();
    x.silent_peers = silent_peers.get();
    return x;
  }
};

/// Hands out counters, follows queues and links, and keeps the sums of those no longer in
/// use. Thread-safe.
class counter_registry {
public:
  std::shared_ptr<live_counters> make() {
    auto result = std::make_shared<live_counters>();
    std::lock_guard lock{mutex_};
    in_use_.add(result, [this](const auto& x) { add_to(retired_, x.of_endpoint()); });
    return result;
  }
  void follow(std::shared_ptr<const message_queue> queue) {
    std::lock_guard lock{mutex_};
    queues_.add(std::move(queue),
                [this](const auto& x) { add_to(retired_.subscribers, x.counters()); });
  }
  void follow(std::shared_ptr<const peer_link> carrier) {
    std::lock_guard lock{mutex_};
    links_.add(std::move(carrier), [this](const auto& x) { add_to(retired_.links, x.counters()); });
  }
  endpoint_counters sum() const {
    std::lock_guard lock{mutex_};
    auto result = retired_;
    for (const auto& each : in_use_.all)
      add_to(result, each->of_endpoint());
    for (const auto& each : queues_.all)
      add_to(result.subscribers, each->counters());
    for (const auto& each : links_.all)
      add_to(result.links, each->counters());
    return result;
  }

private:
  /// There may be very many: it looks for those that count no more, since they are held here alone,
  /// when they may be a third of all.
  template <class T>
  struct followed {
    template <class Keep>
    void add(std::shared_ptr<T> fresh, Keep keep) {
      if (all.size() >= worth_a_look) {
        std::erase_if(all, [&](const auto& each) {
          const bool unused = each.use_count() == 1;
          if (unused)
            keep(*each);
          return unused;
        });
        worth_a_look = all.size() + std::max<std::size_t>(16, all.size() / 2);
      }
      all.push_back(std::move(fresh));
    }

    std::vector<std::shared_ptr<T>> all;
    std::size_t worth_a_look = 16;
  };

  mutable std::mutex mutex_; // guards everything below
  followed<live_counters> in_use_;
  followed<const message_queue> queues_;
  followed<const peer_link> links_;
  endpoint_counters retired_;
};

} // namespace pubsub
