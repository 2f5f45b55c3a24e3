// What several queues hold together.
#pragma once

#include <atomic>
#include <cstdint>

namespace pubsub {

/// One bound for several queues: each is full when all of them together hold as much as its options
/// say. A queue that holds less than `own_part` of that is not full whatever the others hold, so
/// that no queue waits for room in another one. Producers at the same moment may exceed the bound
/// by what each of them brings. Thread-safe.
struct shared_bounds {
  static constexpr std::int64_t own_part = 32;

  std::atomic<std::int64_t> messages{0};
  std::atomic<std::int64_t> bytes{0};
};

} // namespace pubsub
