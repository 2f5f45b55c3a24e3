// What this process, or another one, uses: processor time and memory.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstdint>

#include <sys/types.h>

namespace pubsub::tool::bench {

/// Processor time of all threads of this process so far.
struct processor_time {
  std::chrono::nanoseconds user{0};
  std::chrono::nanoseconds system{0};

  static processor_time now();
};

/// The sum of both.
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

/// Of another process: its processor time so far in seconds, in steps of the kernel's clock tick,
/// and the bytes it occupies; 0 where the system does not tell.
double cpu_seconds_of(pid_t pid);
double resident_bytes_of(pid_t pid);

/// From now on this process, and those that it starts, may have as many files open as the user may.
void raise_limit_of_files();

} // namespace pubsub::tool::bench
