// What this process uses: processor time and memory.
#pragma once

#include <chrono>
#include <cstdint>

namespace pubsub::tool::bench {

/// Processor time of all threads so far, in user and kernel mode.
std::chrono::nanoseconds cpu_time();
/// How often threads of this process have slept and were woken again.
std::uint64_t wake_ups();

/// Bytes that are allocated from the heap now, with the allocator's own headers; 0 where the C
/// library does not tell.
std::uint64_t heap_bytes();
/// Bytes of memory the process occupies, after free heap memory was returned to the system.
std::uint64_t resident_bytes();
/// The most memory the process has occupied so far; 0 where the system does not tell.
std::uint64_t peak_resident_bytes();

} // namespace pubsub::tool::bench
