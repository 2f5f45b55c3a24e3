// SPDX-License-Identifier: BSD-3-Clause
#include "message/chunk.hpp"

#include <array>
#include <bit>
#include <cstdint>
#include <mutex>
#include <new>
#include <vector>

#include <sys/mman.h>
#include <unistd.h>

namespace pubsub {

namespace {

#if defined(__SANITIZE_ADDRESS__)
constexpr bool reuses = false; // the sanitizer shall see uses of freed blocks
#else
constexpr bool reuses = true;
#endif

/// Gives the pages of a block back to the system, and leaves its addresses to the heap. An
/// allocator keeps a heap for each thread and shrinks it only from its end: where several threads
/// read in turns, each would keep the pages of what it once read.
void release_pages(void* block, std::size_t length) noexcept {
  static const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto begin = reinterpret_cast<std::uintptr_t>(block);
  const auto first = (begin + page - 1) / page * page;
  const auto last = (begin + length) / page * page;
  if (first < last)
    ::madvise(reinterpret_cast<void*>(first), last - first, MADV_DONTNEED);
}

/// Idle blocks of large chunks, by their size as a power of two. The last one
/// comes first: it may still be in a processor's cache. Thread-safe.
class idle_blocks {
public:
  /// For a chunk of so many bytes. Throws std::bad_alloc.
  void* take(std::size_t capacity) {
    if (!kept(capacity))
      return ::operator new(sizeof(chunk) + capacity);
    const auto length = std::bit_ceil(capacity);
    {
      const std::lock_guard lock{mutex_};
      if (auto& those = of(length); !those.empty()) {
        auto* const block = those.back();
        those.pop_back();
        idle_bytes_ -= length;
        return block;
      }
    }
    return ::operator new(sizeof(chunk) + length);
  }
  /// What was taken for as many.
  void give_back(void* block, std::size_t capacity) noexcept {
    if (kept(capacity)) {
      const auto length = std::bit_ceil(capacity);
      if (keep(block, length))
        return;
      release_pages(block, length);
    }
    ::operator delete(block);
  }

private:
  static constexpr std::size_t least = std::size_t{64} << 10;
  static constexpr std::size_t most = std::size_t{4} << 20;
  static constexpr std::size_t most_idle_bytes = std::size_t{32} << 20;
  static constexpr auto lengths = std::countr_zero(most) - std::countr_zero(least) + 1;

  static bool kept(std::size_t capacity) noexcept {
    return reuses && capacity >= least && capacity <= most;
  }
  std::vector<void*>& of(std::size_t length) noexcept {
    return blocks_[static_cast<std::size_t>(std::countr_zero(length) - std::countr_zero(least))];
  }
  bool keep(void* block, std::size_t length) noexcept {
    const std::lock_guard lock{mutex_};
    if (idle_bytes_ + length > most_idle_bytes)
      return false;
    try {
      of(length).push_back(block);
    } catch (const std::bad_alloc&) {
      return false;
    }
    idle_bytes_ += length;
    return true;
  }

  std::mutex mutex_;
  std::array<std::vector<void*>, lengths> blocks_;
  std::size_t idle_bytes_ = 0;
};

/// Never destroyed: messages may live until the very end.
idle_blocks& blocks() {
  static auto& all = *new idle_blocks;
  return all;
}

} // namespace

message_storage::~message_storage() = default;

intrusive_ptr<chunk> chunk::make(std::size_t capacity_bytes) {
  void* block = blocks().take(capacity_bytes);
  return intrusive_ptr<chunk>::adopt(new (block) chunk(capacity_bytes));
}

void chunk::destroy() const noexcept {
  auto* self = const_cast<chunk*>(this);
  const auto capacity = capacity_;
  self->~chunk();
  blocks().give_back(self, capacity);
}

} // namespace pubsub
