// What one gathered write to a connection is made of.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "link/tuning.hpp"
#include "message/chunk.hpp"
#include "queue/newest_messages.hpp"
#include "transport/asio.hpp"

namespace pubsub {

/// A slice and the outbox it comes from.
struct outgoing_slice {
  run_slice slice;
  std::size_t hops = 0;
  std::size_t bytes = 0; // on the wire, not yet written
};

/// Memory for bytes of a link's own, kept until they are written. It begins small and is used again
/// and again.
class written_memory {
public:
  /// Room for so many contiguous bytes, which `commit` makes part of what is to be written.
  std::byte* reserve(std::size_t size) {
    if (chunks_.empty() || chunks_.back()->capacity() - used_ < size)
      add_chunk(size);
    return chunks_.back()->data() + used_;
  }
  void commit(std::size_t size) noexcept { used_ += size; }
  /// All of it is written.
  void forget() noexcept {
    if (chunks_.size() > 1)
      chunks_.erase(chunks_.begin(), chunks_.end() - 1);
    if (!chunks_.empty() && chunks_.back()->capacity() > link_tuning::most_written_bytes)
      chunks_.clear();
    used_ = 0;
  }

private:
  void add_chunk(std::size_t at_least) {
    const auto before = chunks_.empty() ? 0 : chunks_.back()->capacity();
    const auto next =
        std::clamp(2 * before, link_tuning::first_written_bytes, link_tuning::most_written_bytes);
    chunks_.push_back(chunk::make(std::max(next, at_least)));
    used_ = 0;
  }

  std::vector<intrusive_ptr<chunk>> chunks_; // the last is being filled
  std::size_t used_ = 0;                     // of the last
};

/// Slices of a link's outboxes, and what they are on the wire, until that is written.
class gathered_write {
public:
  /// Everything is written.
  bool empty() const noexcept { return first_slice_ == slices.size(); }
  /// What is not written yet.
  std::span<const asio::const_buffer> rest() const noexcept {
    return std::span{buffers}.subspan(first_buffer_);
  }
  /// Another write may begin. The memory stays.
  void clear() noexcept {
    slices.clear();
    first_slice_ = 0;
    buffers.clear();
    first_buffer_ = 0;
    memory.forget();
  }
  /// Appends a frame, kept until it is written, and returns its size in bytes.
  std::size_t append(std::span<const std::byte> frame) {
    auto* const bytes = memory.reserve(frame.size());
    std::ranges::copy(frame, bytes);
    memory.commit(frame.size());
    buffers.emplace_back(bytes, frame.size());
    return frame.size();
  }
  /// So many bytes more are written. `written(hops, size)` hears which messages are; neighbours are
  /// often of one outbox, and are told of together.
  template <class Report>
  void advance(std::size_t bytes, Report written) {
    skip_buffers(bytes);
    run_position done; // of one outbox, not told of yet
    std::size_t done_hops = 0;
    const auto report = [&] {
      if (done.messages > 0)
        written(done_hops, std::exchange(done, {}));
    };
    while (bytes > 0) {
      auto& [slice, hops, left] = slices[first_slice_];
      const auto step = std::min(bytes, left);
      left -= step;
      bytes -= step;
      if (left > 0)
        break;
      if (slice.size.messages > 0) {
        if (hops != done_hops)
          report();
        done_hops = hops;
        done = {done.messages + slice.size.messages, done.bytes + slice.size.bytes};
      }
      slice.run = {};
      ++first_slice_;
    }
    report();
  }

  std::vector<outgoing_slice> slices;
  std::vector<asio::const_buffer> buffers; ///< they point into runs and into `memory`
  written_memory memory;
  std::vector<run_slice> scratch; ///< empty between calls

private:
  void skip_buffers(std::size_t bytes) noexcept {
    while (bytes > 0) {
      auto& buffer = buffers[first_buffer_];
      const auto step = std::min(bytes, buffer.size());
      buffer += step;
      bytes -= step;
      if (buffer.size() == 0)
        ++first_buffer_;
    }
  }

  std::size_t first_slice_ = 0;
  std::size_t first_buffer_ = 0;
};

/// What a thread keeps between the writes of all links that it writes to. There are thousands of
/// links, most have written all they had, and a message to all of them finds this memory warm.
class spare_write {
public:
  static std::unique_ptr<gathered_write> take() {
    return !ended_ && here_.kept ? std::move(here_.kept) : std::make_unique<gathered_write>();
  }
  static void keep(std::unique_ptr<gathered_write> x) noexcept {
    if (!ended_)
      here_.kept = std::move(x);
  }

private:
  struct holder {
    ~holder() { ended_ = true; } // a static endpoint may write later in the main thread
    std::unique_ptr<gathered_write> kept;
  };
  inline static thread_local bool ended_ = false;
  inline static thread_local holder here_;
};

} // namespace pubsub
