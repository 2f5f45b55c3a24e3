// One connection to one peer: carries frames over a connection, both ways.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include <pubsub/counters.hpp>
#include <pubsub/error.hpp>

#include "link/credit_gate.hpp"
#include "link/frame_encoder.hpp"
#include "link/outboxes.hpp"
#include "message/chunk.hpp"
#include "queue/flow_source.hpp"
#include "transport/connection.hpp"

namespace pubsub {

class link;

/// Whole frames as they lie in a read buffer: `u32 length`, payload, and so on. The bytes may be
/// patched in place until a slice of them has been handed on.
struct frame_batch {
  const intrusive_ptr<chunk>& owner;
  std::span<std::byte> bytes;
};

/// What a link tells its session. All calls come on the link's loop and must not block.
class link_handler {
public:
  virtual ~link_handler() = default;
  /// Frames have arrived. May call `link::pause_expected`.
  virtual void on_frames(const frame_batch& frames) = 0;
  /// The connection is gone; the last call. `reason` is none if this side closed it.
  virtual void on_closed(const error& reason) = 0;
};

/// Reads big, splits frames without copying, writes runs of frames with one gathered write: from
/// the loop under load, at once on the publisher's thread if the link has been idle for a moment.
/// While a queue it feeds is full, a version-1 link stops reading, and one of version 2 gives no
/// credit. Thread-safety: `out`, the `push`es, `close`, `close_when_written` and `closed` from any
/// thread, the rest from the link's loop.
class link final : public std::enable_shared_from_this<link> {
public:
  struct limits {
    std::uint32_t max_frame_bytes;
  };

  static std::shared_ptr<link> make(std::unique_ptr<connection> carrier,
                                    const queue_options& options, limits bounds);
  /// Starts reading and writing. The handler is kept alive until `on_closed` has returned.
  void start(std::shared_ptr<link_handler> handler);

  /// For messages that have come so many hops; in version 1 there is only the first.
  outbox& out(std::size_t hops = 0) { return out_.of(hops); }
  std::uint16_t hops_in_use() const noexcept { return out_.hops_in_use(); }
  void push_control(std::span<const std::byte> frame) { out_.push_control(frame); }
  /// Version 2: behind the messages that have come so many hops, and before those that follow.
  void push_behind(std::size_t hops, std::span<const std::byte> frame) {
    out_.push_behind(hops, frame);
  }
  /// Behind all messages that wait.
  void push_last(std::span<const std::byte> frame) { out_.push_last(frame); }
  /// Of control frames that wait.
  std::size_t control_bytes() const { return out_.control_bytes(); }
  std::size_t wait_until_empty(std::chrono::steady_clock::time_point until) const {
    return out_.wait_until_empty(until);
  }
  /// Closes at once. What is not yet written counts as dropped.
  void close(error reason = {});
  /// Closes once everything queued before is written.
  void close_when_written();
  bool closed() const noexcept { return closed_.load(std::memory_order_acquire); }

  /// The handshake is over: from here on frames as `version` has them, within `bounds`.
  void begin_messages(std::uint8_t version, const endpoint_id& self, limits bounds);
  std::uint8_t version() const noexcept { return version_; }
  /// Whether reading stands still, and how often full queues have asked for that. On the link's
  /// loop.
  bool paused() const noexcept { return !may_read(); }
  std::uint64_t pause_count() const noexcept { return version_ >= 2 ? 0 : gates_[0].pause_count(); }
  /// What a full queue pauses; in version 1 there is only the first.
  credit_gate& gate(std::size_t hops = 0) noexcept { return gates_[hops]; }
  std::weak_ptr<flow_source> source(std::size_t hops = 0) {
    return std::shared_ptr<flow_source>{shared_from_this(), &gates_[hops]};
  }
  /// Version 2: the peer can take more.
  void grant(const wire::credit& x);

  const network_info& remote() const noexcept { return remote_; }
  link_counters counters() const;
  void count_received(std::uint64_t messages) noexcept {
    received_.fetch_add(messages, std::memory_order_relaxed);
  }
  asio::io_context& loop() const noexcept { return *connection_->loop(); }

private:
  link(std::unique_ptr<connection> carrier, const queue_options& options, limits bounds);

  struct frame_length {
    std::uint32_t bytes;
    bool allowed;
  };

  frame_length length_at(const std::byte* header) const noexcept;
  bool may_read() const noexcept { return version_ >= 2 || !gates_[0].paused(); }
  void on_resume();
  void give_credit(bool small_too);
  void read();
  std::span<const std::byte> unread() const noexcept {
    return {buffer_->data() + parsed_, filled_ - parsed_};
  }
  /// Whether no frame has come yet.
  bool unread_is_all() const noexcept {
    return bytes_received_.load(std::memory_order_relaxed) == filled_ - parsed_;
  }
  void on_read(error_code failure, std::size_t transferred);
  bool deliver_frames();
  error too_long(std::uint32_t size) const;
  error explain(const error_code& failure) const;
  void make_room(std::size_t wanted);
  std::size_t announced_bytes() const noexcept;
  void on_work();
  bool write_at_once();
  void write();
  void take_slices();
  std::span<const asio::const_buffer> rest() const noexcept {
    return std::span{buffers_}.subspan(first_buffer_);
  }
  void advance(std::size_t written);
  void add_written(std::size_t hops, run_position size);
  void report_written();
  void skip_buffers(std::size_t written);
  void on_written(error_code failure, std::size_t transferred);
  void do_close(error reason);
  void drop_buffers() noexcept;

  std::unique_ptr<connection> connection_;
  const network_info remote_;
  outboxes out_;
  std::shared_ptr<link_handler> handler_;
  limits limits_;
  std::uint8_t version_ = 1;

  // Reading: bytes [parsed_, filled_) of the buffer are the beginning of a frame.
  intrusive_ptr<chunk> buffer_;
  std::size_t parsed_ = 0;
  std::size_t filled_ = 0;
  std::array<credit_gate, wire::max_hops> gates_;
  bool reading_ = false;

  // Writing: slices taken from the outbox, the first of them partly written. The loop writes, or a
  // publisher that finds the link idle.
  std::mutex writer_mutex_; // guards the following, and the connection's end
  std::vector<outgoing_slice> slices_;
  std::vector<std::size_t> slice_bytes_; // of each, as encoded
  frame_encoder encoder_;
  std::vector<asio::const_buffer> buffers_; // what they are on the wire
  std::size_t first_buffer_ = 0;
  std::size_t first_slice_ = 0;
  std::size_t first_slice_written_ = 0;
  run_position written_; // not yet reported, of written_hops_
  std::size_t written_hops_ = 0;
  bool writing_ = false;
  std::chrono::steady_clock::time_point idle_since_;
  bool close_when_written_ = false;
  std::atomic<bool> closed_{false}; // set on the loop, read anywhere

  std::atomic<std::uint64_t> received_{0};
  std::atomic<std::uint64_t> bytes_received_{0};
  std::atomic<std::uint64_t> bytes_sent_{0};
};

} // namespace pubsub
