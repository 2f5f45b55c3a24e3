// How much of the machine this process has: memory, threads, descriptors.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <unistd.h>

namespace pubsub::test {

/// Sanitizers keep memory of their own.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool memory_is_ours = false;
#else
inline constexpr bool memory_is_ours = true;
#endif

/// Memory of this process that is really there, in bytes.
inline std::size_t resident_bytes() {
  std::size_t all = 0;
  std::size_t resident = 0;
  std::ifstream{"/proc/self/statm"} >> all >> resident;
  return resident * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

inline std::size_t entries_of(const char* folder) {
  const std::filesystem::directory_iterator all{folder};
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}
inline std::size_t threads_now() {
  return entries_of("/proc/self/task");
}
inline std::size_t descriptors_now() {
  return entries_of("/proc/self/fd");
}

} // namespace pubsub::test
