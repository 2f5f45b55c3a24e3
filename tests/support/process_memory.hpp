// How much memory this process has.
#pragma once

#include <cstddef>
#include <fstream>

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

} // namespace pubsub::test
