#include "message/chunk.hpp"

#include <new>

namespace pubsub {

message_storage::~message_storage() = default;

intrusive_ptr<chunk> chunk::make(std::size_t capacity_bytes) {
  void* block = ::operator new(sizeof(chunk) + capacity_bytes);
  return intrusive_ptr<chunk>::adopt(new (block) chunk(capacity_bytes));
}

void chunk::destroy() const noexcept {
  auto* self = const_cast<chunk*>(this);
  self->~chunk();
  ::operator delete(self);
}

} // namespace pubsub
