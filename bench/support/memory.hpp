// What a process has needed.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <fstream>
#include <string>

namespace bench {

/// The most memory a process (`self`, or by its id) has occupied so far; 0 where it has ended, or
/// the system does not tell.
inline std::uint64_t peak_memory_bytes(const std::string& process = "self") {
  std::ifstream status{"/proc/" + process + "/status"};
  for (std::string key; status >> key; status.ignore(1000, '\n'))
    if (std::uint64_t kib = 0; key == "VmHWM:" && status >> kib)
      return kib * 1024;
  return 0;
}

} // namespace bench
