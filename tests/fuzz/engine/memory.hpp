// How much memory a decoder asks for: operator new of the executable counts, or the sanitizer.
#pragma once

#include <cstddef>

namespace pubsub::fuzz {

/// While it lives, this program ends with an error once more than `bytes` have been asked for, all
/// requests added up, whether or not they are freed again. One at a time.
class memory_bound {
public:
  explicit memory_bound(std::size_t bytes) noexcept;
  ~memory_bound();
  memory_bound(const memory_bound&) = delete;
  memory_bound& operator=(const memory_bound&) = delete;
};

} // namespace pubsub::fuzz
