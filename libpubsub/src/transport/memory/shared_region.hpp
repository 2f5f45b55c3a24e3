// Memory that two processes of a host share for one connection: two rings, one for each direction.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <utility>

#include <pubsub/error.hpp>
#include <pubsub/shared_memory_options.hpp>

#include "base/unique_fd.hpp"
#include "transport/memory/shared_ring.hpp"

namespace pubsub {

/// Which of the two sides this is: the one that has made the memory, or the one that was given it.
enum class region_side : unsigned char { maker, taker };

/// Anonymous memory (memfd) whose size is sealed: no side can take it away from under the other,
/// and nothing is left of it when both are gone. A page of control words, then the bytes of the two
/// rings. Owns the mapping.
class shared_region {
public:
  /// Errors: limit_exceeded, where the system gives no memory or descriptor.
  static expected<shared_region> make(const shared_memory_options& options);
  /// What a peer has made. Errors: invalid_data (not such memory, or its size can change),
  /// limit_exceeded (rings of more than `max_ring_bytes`).
  static expected<shared_region> take(unique_fd memory, std::size_t max_ring_bytes);

  shared_region(shared_region&& other) noexcept;
  shared_region& operator=(shared_region&&) = delete;
  ~shared_region();

  /// To be sent to the peer; the mapping does not need it.
  unique_fd release_fd() noexcept { return std::move(memory_); }

  ring_view outgoing() const noexcept { return ring(side_ == region_side::maker ? 0 : 1); }
  ring_view incoming() const noexcept { return ring(side_ == region_side::maker ? 1 : 0); }
  /// Of both rings and their control words.
  std::size_t bytes() const noexcept;

private:
  shared_region(unique_fd memory, region_side side, std::size_t ring_bytes) noexcept
      : memory_(std::move(memory)), side_(side), ring_bytes_(ring_bytes) {}
  /// False if the system has no room for it.
  bool map() noexcept;
  ring_view ring(std::size_t index) const noexcept;
  std::size_t mapped_bytes() const noexcept;

  unique_fd memory_;
  region_side side_;
  std::size_t ring_bytes_;
  std::byte* base_ = nullptr; // of one mapping: control words, then each ring twice
};

} // namespace pubsub
