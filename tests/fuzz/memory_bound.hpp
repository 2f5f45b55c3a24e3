// How much memory a decoder asks for, as operator new or the sanitizer's allocator sees it.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

namespace pubsub::fuzz {

/// While it lives, the process ends with an error once its thread has asked for more than `bytes`,
/// all requests added up, whether or not they are freed again. A bound of 0 says that a decoder
/// needs no memory at all. At most one bound lives at a time.
class memory_bound {
public:
  explicit memory_bound(std::size_t bytes) noexcept;
  ~memory_bound();
  memory_bound(const memory_bound&) = delete;
  memory_bound& operator=(const memory_bound&) = delete;
};

} // namespace pubsub::fuzz
