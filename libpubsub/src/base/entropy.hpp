// Random numbers from the operating system, for what others must not guess or choose too.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cerrno>
#include <cstdint>
#include <system_error>

#include <unistd.h>

namespace pubsub {

/// Does not block. Not std::random_device: compiled into a program, that of GCC 12 and later needs
/// the newest C library of all that is linked, glibc 2.36.
inline std::uint32_t random_number() {
  std::uint32_t result = 0;
  if (::getentropy(&result, sizeof result) != 0)
    throw std::system_error{errno, std::generic_category(), "the system gives no random numbers"};
  return result;
}

} // namespace pubsub
