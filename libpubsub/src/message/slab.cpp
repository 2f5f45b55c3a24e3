#include "message/slab.hpp"

#include <algorithm>

namespace pubsub {

namespace {
constexpr std::uint32_t bulk_references = 4096;
}

void slab::start_chunk(std::size_t at_least) {
  auto fresh = chunk::make(std::max(chunk_bytes, at_least));
  retire();
  current_ = fresh.detach();
}

void slab::stock_up() noexcept {
  current_->acquire(bulk_references);
  spare_references_ = bulk_references;
}

void slab::retire() noexcept {
  if (current_ != nullptr)
    current_->release(spare_references_ + 1);
  current_ = nullptr;
  used_ = 0;
  spare_references_ = 0;
}

} // namespace pubsub
