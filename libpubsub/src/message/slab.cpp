// SPDX-License-Identifier: BSD-3-Clause
#include "message/slab.hpp"

#include <algorithm>

namespace pubsub {

void slab::start_chunk(std::size_t at_least) {
  if (current_ && current_->capacity() == chunk_bytes && spares_.size() < max_spares)
    spares_.push_back(std::move(current_));
  used_ = 0;
  const auto idle = at_least > chunk_bytes
                        ? spares_.end()
                        : std::ranges::find_if(spares_, [](auto& each) { return each->unique(); });
  if (idle == spares_.end()) {
    current_ = chunk::make(std::max(chunk_bytes, at_least));
  } else {
    current_ = std::move(*idle);
    spares_.erase(idle);
  }
  fetch(0, fetched_ahead_bytes);
}

} // namespace pubsub
