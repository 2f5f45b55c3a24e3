// A reference-counted block of bytes that many messages are slices of.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>

#include "message/message_storage.hpp"

#include "base/intrusive_ptr.hpp"

namespace pubsub {

/// Header and bytes lie in one heap block. One owner appends; holders of slices read what has been
/// written meanwhile. Blocks of 64 KiB and more are used again, and a process keeps up to 32 MiB of
/// idle ones: fresh pages from the system take longer than filling them.
class chunk final : public message_storage {
public:
  /// A chunk with one reference. Throws std::bad_alloc.
  static intrusive_ptr<chunk> make(std::size_t capacity_bytes);

  std::byte* data() noexcept { return reinterpret_cast<std::byte*>(this + 1); }
  const std::byte* data() const noexcept { return reinterpret_cast<const std::byte*>(this + 1); }
  std::size_t capacity() const noexcept { return capacity_; }

private:
  explicit chunk(std::size_t capacity) noexcept : capacity_(capacity) {}
  void destroy() const noexcept override;

  std::size_t capacity_;
};

} // namespace pubsub
