// What an input has made the decoder do: the edges it took and the numbers it compared. The
// compiler calls us, where the build has -fsanitize-coverage=trace-pc,trace-cmp; without that
// nothing is ever new.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace pubsub::fuzz {

/// Two numbers that were compared and differ; `size_bytes` is that of their type.
struct comparison {
  std::uint64_t seen = 0;
  std::uint64_t wanted = 0;
  std::uint8_t size_bytes = 0;
};

/// Forgets edges and comparisons, before an input is run.
void begin_tracing() noexcept;
/// Whether the last input took an edge that no input before has taken, or one about twice as often
/// as any. Remembers its edges.
bool found_something_new() noexcept;
/// Of the last input; the latest of many.
std::span<const comparison> comparisons() noexcept;
/// Edges seen so far.
std::size_t edges() noexcept;
/// Whether the compiler calls us at all.
bool is_guided() noexcept;

} // namespace pubsub::fuzz
