// What the two versions of the wire do differently on one link: one interface, two implementations.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "base/bytes.hpp"
#include "link/credit_gate.hpp"
#include "link/gathered_write.hpp"
#include "link/outboxes.hpp"
#include "link/tuning.hpp"

namespace pubsub {

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

  /// Everything of `out` is written: it gets what is to be written next.
  void gather(outboxes& from, gathered_write& out) {
    out.clear();
    take(from, out);
    for (auto& each : out.slices)
      each.bytes = encode(each.slice, out);
  }
  /// Appends the slices that are to be written next.
  virtual void take(outboxes& from, gathered_write& out) = 0;
  /// Appends what makes up `slice` on the wire, and returns its size in bytes.
  std::size_t encode(const run_slice& slice, gathered_write& out) {
    if (slice.run->has_records())
      return encode_records(slice, out);
    out.buffers.emplace_back(slice.run->bytes() + slice.from.bytes, slice.size.bytes);
    return slice.size.bytes;
  }
  /// The peer can take so many more bytes of messages that have come so many hops.
  virtual void grant(std::size_t hops, std::uint32_t bytes) noexcept = 0;

protected:
  virtual std::size_t encode_records(const run_slice& slice, gathered_write& out) = 0;
  /// Appends what one outbox holds, and returns the bytes of records among it.
  std::size_t take_from(outbox& from, std::size_t hops, gathered_write& out,
                        std::size_t max_bytes = link_tuning::max_bytes_per_write) {
    if (!from.armed()) // otherwise nothing has come since it was empty
      from.take(out.scratch, link_tuning::max_slices_per_write - out.slices.size(), max_bytes);
    std::size_t records = 0;
    for (auto& each : out.scratch) {
      records += each.run->has_records() ? each.size.bytes : 0;
      out.slices.push_back({std::move(each), hops, 0});
    }
    out.scratch.clear();
    return records;
  }
};

} // namespace pubsub
