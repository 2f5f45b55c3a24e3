// Copies of messages that go round between Broker peers.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>

namespace pubsub {

/// What has come from Broker peers in the last seconds. Their messages have no number, so a copy is
/// known by its content, and by having come further: a node of this library that passes a message
/// on leaves it one hop less. (Brokers set the hop limit anew: their circles are found by probes.)
/// Two messages that are merely equal are taken for copies only if both come within
/// these seconds and the one that comes later over at least two more nodes than a direct peer's.
/// Thread-safe; threads that meet at one content may overlook a copy.
class relayed_copies {
public:
  static constexpr std::uint32_t memory_s = 8;
  static constexpr unsigned most_hops_of_copies = 14; // left; a direct peer's message has 16

  /// Takes 512 KiB from then on.
  relayed_copies() : seen_(std::make_unique<table>()) {}

  /// Whether this content (topic and payload) has come before with more hops left, so that it need
  /// not go on. Notes it if not. `now_s` rises by one with each second.
  bool is_copy(std::string_view content, unsigned hops_left, std::uint32_t now_s) noexcept {
    const auto hash = static_cast<std::uint64_t>(std::hash<std::string_view>{}(content));
    const note fresh{
        .tag = hash >> tag_shift, .hops_left = std::min(hops_left, 31U), .time = now_s & 0xffff};
    auto& slot = (*seen_)[hash % seen_->size()];
    const auto known = slot.load(std::memory_order_relaxed);
    const bool same = known.tag == fresh.tag && ((fresh.time - known.time) & 0xffff) <= memory_s;
    if (same && known.hops_left > fresh.hops_left)
      return fresh.hops_left <= most_hops_of_copies;
    slot.store(fresh, std::memory_order_relaxed);
    return false;
  }

private:
  static constexpr unsigned tag_shift = 21;

  /// One word, which a thread reads and writes at once.
  struct note {
    std::uint64_t tag : 64 - tag_shift;
    std::uint64_t hops_left : 5;
    std::uint64_t time : 16;
  };

  using table = std::array<std::atomic<note>, 65'536>;
  std::unique_ptr<table> seen_;
};

} // namespace pubsub
