// Counters that threads of a component write and any thread reads.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <pubsub/cluster/member_counters.hpp>
#include <pubsub/publishable.hpp>

namespace pubsub::cluster {

/// Changes a counter of `shared_counters`.
inline void add(std::uint64_t& counter, std::uint64_t n = 1) noexcept {
  std::atomic_ref{counter}.fetch_add(n, std::memory_order_relaxed);
}

/// `Counters` is a public struct of numbers, which change by `add` only. Thread-safe.
template <class Counters>
class shared_counters : public Counters {
public:
  Counters read() const noexcept {
    static_assert(std::is_trivially_copyable_v<Counters>);
    static_assert(sizeof(Counters) % sizeof(std::uint64_t) == 0);
    constexpr auto size = sizeof(Counters) / sizeof(std::uint64_t);
    auto& counters = const_cast<shared_counters&>(*this); // atomic_ref reads no const
    auto* const numbers = reinterpret_cast<std::uint64_t*>(static_cast<Counters*>(&counters));
    std::array<std::uint64_t, size> result;
    for (std::size_t i = 0; i < size; ++i)
      result[i] = std::atomic_ref{numbers[i]}.load(std::memory_order_relaxed);
    return std::bit_cast<Counters>(result);
  }
};

/// What has become of an event, or a record, that came from the cluster.
inline void count_published(member_counters& counts, publish_result result,
                            std::uint64_t& taken) noexcept {
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
