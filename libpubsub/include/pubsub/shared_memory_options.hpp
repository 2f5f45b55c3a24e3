// How links within a host use memory that both processes share.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include <pubsub/error.hpp>
#include <pubsub/export.hpp>

namespace pubsub {

/// Whether links at `unix://` move to memory that both sides share.
enum class shared_memory : std::uint8_t { on, off };
/// The pages of shared memory: `huge` asks the system for large ones, which cost less where much
/// memory is used. The system gives them if
/// `/sys/kernel/mm/transparent_hugepage/shmem_enabled` says `advise` or more.
enum class memory_pages : std::uint8_t { normal, huge };

/// A link at `unix://` that has carried 64 KiB moves to two rings of bytes in anonymous
/// memory, one for each direction, if both sides want that; otherwise its socket carries on. All
/// promises stay the same, and the kernel copies nothing. Nothing is left behind when a process
/// dies.
struct shared_memory_options {
  /// `off`: this side neither asks for it nor agrees.
  shared_memory use = shared_memory::on;
  /// Bytes of each ring, rounded up to a power of two; 4 KiB to 1 GiB. The side that connects
  /// decides, and the other agrees up to 64 MiB, or what it has here itself if that is more. A link
  /// holds no more memory than two of these and a page.
  std::size_t ring_bytes = 1024 * 1024;
  /// Of the memory that this side makes.
  memory_pages pages = memory_pages::normal;
  /// Where the memory that this side makes should lie; nothing: where it is touched first.
  std::optional<unsigned> numa_node = std::nullopt;
};

/// Whether all fields are in range. Errors: invalid_argument; the context names the field.
PUBSUB_EXPORT expected<void> check(const shared_memory_options& options);

} // namespace pubsub
