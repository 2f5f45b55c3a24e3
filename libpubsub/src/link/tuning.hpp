// The tuned constants of this room. Each names its reason and the command that measures it.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace pubsub::tuning {

// Reading and writing: `pubsub bench chain --relays 0,1,2,4`.

/// A read buffer: some 40 full packets of loopback TCP, and small enough for the second-level
/// cache.
inline constexpr std::size_t read_chunk_bytes = 256 * 1024;
/// A buffer with less room than this is replaced: a short read costs as much as a long one.
inline constexpr std::size_t min_read_bytes = 16 * 1024;
/// So much memory is reserved for a frame because its length was announced; more comes with its
/// bytes.
inline constexpr std::size_t believed_bytes = 1024 * 1024;
/// One gathered write takes at most so many slices (an encoded slice is up to three buffers, the
/// kernel takes 1,024) and about so many bytes.
inline constexpr std::size_t max_slices_per_write = 64;
inline constexpr std::size_t max_bytes_per_write = 1024 * 1024;

/// A publisher writes to a link that has been idle for so long: longer than a publisher under load
/// takes for its next message, so that a stream is left to the loop, which gathers. Measured by
/// `pubsub bench latency --limit` and `pubsub bench chain --relays 0`.
inline constexpr std::chrono::microseconds idle_before_writing_at_once{20};

} // namespace pubsub::tuning
