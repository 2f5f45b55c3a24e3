// What the two versions of the wire do differently on one link: one interface, two implementations.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/bytes.hpp"
#include "link/credit_gate.hpp"
#include "link/outboxes.hpp"
#include "link/tuning.hpp"
#include "message/chunk.hpp"
#include "transport/asio.hpp"

namespace pubsub {

/// A slice and the outbox it comes from.
struct outgoing_slice {
  run_slice slice;
  std::size_t hops = 0;
  std::size_t bytes = 0; // on the wire, not yet written
};

/// How long frames may be, and which bit of their length, if any, marks those of version 2.
struct frame_bounds {
  struct length {
    std::uint32_t bytes;
    bool allowed;
  };

  std::uint32_t max_bytes = 0;
  std::uint32_t flag = 0;
  std::uint32_t max_flagged_bytes = 0;

  /// Payload bytes of the frame at `header`, and whether it may be that long.
  length length_at(const std::byte* header) const noexcept {
    const auto word = load_be<std::uint32_t>(header);
    const auto size = word & ~flag;
    return {size, size <= ((word & flag) != 0 ? max_flagged_bytes : max_bytes)};
  }
};

/// Memory for bytes of a link's own, kept until they are written. Most links write little at a
/// time, and there are thousands of them: it begins small and is used again and again.
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

/// Says how a link of one version reads and writes. Thread-safety: what reads is called on the
/// link's loop, what writes under the link's writer mutex. No call blocks or calls back.
class link_protocol {
public:
  using gates = std::array<credit_gate, wire::max_hops>;

  virtual ~link_protocol() = default;

  // -- reading -----------------------------------------------------------------------------------

  virtual frame_bounds bounds(std::uint32_t max_frame_bytes) const noexcept = 0;
  /// Whether reading goes on although these gates may be paused.
  virtual bool may_read(const gates& all) const noexcept = 0;
  /// How often full queues have stopped the reading.
  virtual std::uint64_t pause_count(const gates& all) const noexcept = 0;
  /// Lets the peer send as much as was taken in the meantime; `small_too`: even if that is little.
  virtual void give_credit(std::span<credit_gate> used, outboxes& to, bool small_too) const = 0;

  // -- writing -----------------------------------------------------------------------------------

  /// Appends what is to be written next.
  virtual void take(outboxes& from, std::vector<outgoing_slice>& out) = 0;
  /// Appends what makes up `slice` on the wire, and returns its size in bytes. The buffers point
  /// into the run and into memory kept until `forget`.
  std::size_t encode(const run_slice& slice, std::vector<asio::const_buffer>& out) {
    if (slice.run->has_records())
      return encode_records(slice, out);
    out.emplace_back(slice.run->bytes() + slice.from.bytes, slice.size.bytes);
    return slice.size.bytes;
  }
  /// Everything encoded so far has been written.
  void forget() noexcept { memory_.forget(); }
  /// The peer can take so many more bytes of messages that have come so many hops.
  virtual void grant(std::size_t hops, std::uint32_t bytes) noexcept = 0;

protected:
  virtual std::size_t encode_records(const run_slice& slice,
                                     std::vector<asio::const_buffer>& out) = 0;
  /// Appends what one outbox holds, and returns the bytes of records among it.
  std::size_t take_from(outbox& from, std::size_t hops, std::vector<outgoing_slice>& out,
                        std::size_t max_bytes = link_tuning::max_bytes_per_write) {
    if (!from.armed()) // otherwise nothing has come since it was empty
      from.take(scratch_, link_tuning::max_slices_per_write - out.size(), max_bytes);
    std::size_t records = 0;
    for (auto& each : scratch_) {
      records += each.run->has_records() ? each.size.bytes : 0;
      out.push_back({std::move(each), hops, 0});
    }
    scratch_.clear();
    return records;
  }

  written_memory memory_; // of what is written in front of payloads

private:
  std::vector<run_slice> scratch_; // empty, kept for its memory
};

} // namespace pubsub
