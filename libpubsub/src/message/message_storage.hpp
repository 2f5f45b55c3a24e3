// The reference-counted memory behind messages: what a data_message points to.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>

namespace pubsub {

/// Immutable once shared. Either a chunk of bytes that many messages are slices of, or one value
/// built by this process. Counting is thread-safe; the last release destroys the storage.
class message_storage {
public:
  void acquire(std::uint32_t n = 1) const noexcept {
    refs_.fetch_add(n, std::memory_order_relaxed);
  }
  void release(std::uint32_t n = 1) const noexcept {
    if (refs_.fetch_sub(n, std::memory_order_acq_rel) == n)
      destroy();
  }
  /// True if the caller holds the only reference.
  bool unique() const noexcept { return refs_.load(std::memory_order_acquire) == 1; }

  message_storage(const message_storage&) = delete;
  message_storage& operator=(const message_storage&) = delete;

protected:
  message_storage() = default;
  virtual ~message_storage();

private:
  virtual void destroy() const noexcept = 0;

  mutable std::atomic<std::uint32_t> refs_{1};
};

} // namespace pubsub
