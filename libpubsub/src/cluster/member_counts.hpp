// What a member counts: written by its thread, read by any.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>

#include <pubsub/cluster/zeromq_member.hpp>

namespace pubsub::cluster {

struct member_counts {
  std::atomic<std::uint64_t> connections{0};
  std::atomic<std::uint64_t> left_to_partner{0};
  std::atomic<std::uint64_t> events_received{0};
  std::atomic<std::uint64_t> unwanted{0};
  std::atomic<std::uint64_t> dropped{0};
  std::atomic<std::uint64_t> refused{0};
  std::atomic<std::uint64_t> malformed{0};
  std::atomic<std::uint64_t> events_sent{0};
  std::atomic<std::uint64_t> not_events{0};
  std::atomic<std::uint64_t> unsent{0};
};

struct zeromq_counts : member_counts {
  std::atomic<std::uint64_t> own{0};
  std::atomic<std::uint64_t> log_batches{0};
  std::atomic<std::uint64_t> log_records{0};
  std::atomic<std::uint64_t> log_records_sent{0};
  std::atomic<std::uint64_t> log_batches_sent{0};
  std::atomic<std::uint64_t> log_records_unreadable{0};
  std::atomic<std::uint64_t> log_records_unsent{0};

  zeromq_counters read() const {
    return {.connections = connections,
            .left_to_partner = left_to_partner,
            .events_received = events_received,
            .own = own,
            .unwanted = unwanted,
            .dropped = dropped,
            .refused = refused,
            .malformed = malformed,
            .events_sent = events_sent,
            .not_events = not_events,
            .unsent = unsent,
            .log_batches = log_batches,
            .log_records = log_records,
            .log_records_sent = log_records_sent,
            .log_batches_sent = log_batches_sent,
            .log_records_unreadable = log_records_unreadable,
            .log_records_unsent = log_records_unsent};
  }
};

/// There is one writer, so no step has to be atomic as a whole.
inline void add(std::atomic<std::uint64_t>& counter, std::uint64_t n = 1) noexcept {
  counter.store(counter.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
}

/// What has become of an event, or a record, that came from the cluster.
inline void count_published(member_counts& counts, publish_result result,
                            std::atomic<std::uint64_t>& taken) noexcept {
  switch (result) {
  case publish_result::taken:
    return add(taken);
  case publish_result::unwanted:
    return add(counts.unwanted);
  case publish_result::dropped:
  case publish_result::would_block:
    return add(counts.dropped);
  case publish_result::refused:
    return add(counts.refused);
  }
}

} // namespace pubsub::cluster
