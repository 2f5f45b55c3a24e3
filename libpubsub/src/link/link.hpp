// One connection to one peer: carries frames over a connection, both ways.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include <pubsub/counters.hpp>
#include <pubsub/error.hpp>

#include "link/connection.hpp"
#include "link/frame_encoder.hpp"
#include "message/chunk.hpp"
#include "queue/flow_source.hpp"
#include "queue/outbox.hpp"

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
/// Reading stops while a queue it feeds is full (`flow_source`). Thread-safety: `out`, `close` and
/// `close_when_written` from any thread, the rest from the link's loop.
class link final : public flow_source, public std::enable_shared_from_this<link> {
public:
  struct limits {
    std::uint32_t max_frame_bytes;
  };

  static std::shared_ptr<link> make(std::unique_ptr<connection> carrier,
                                    const queue_options& options, limits bounds);
  /// Starts reading and writing. The handler is kept alive until `on_closed` has returned.
  void start(std::shared_ptr<link_handler> handler);

  outbox& out() noexcept { return out_; }
  /// Closes at once. What is not yet written counts as dropped.
  void close(error reason = {});
  /// Closes once everything queued before is written.
  void close_when_written();

  /// The handshake is over: from here on frames as `version` has them, within `bounds`.
  void begin_messages(std::uint8_t version, const endpoint_id& self, limits bounds) {
    version_ = version;
    limits_ = bounds;
    encoder_.begin(version, self);
  }
  std::uint8_t version() const noexcept { return version_; }
  /// Notes that a queue has paused this link; it will call `resume` once.
  void expect_resume() noexcept { pauses_.fetch_add(1, std::memory_order_relaxed); }
  /// From a queue's consumer: one pause less.
  void resume() noexcept override;

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
  void read();
  void on_read(error_code failure, std::size_t transferred);
  bool deliver_frames();
  void make_room(std::size_t wanted);
  intrusive_ptr<chunk> fresh_chunk(std::size_t at_least);
  void on_work();
  bool write_at_once();
  void write();
  void take_slices();
  std::span<const asio::const_buffer> rest() const noexcept {
    return std::span{buffers_}.subspan(first_buffer_);
  }
  void advance(std::size_t written);
  void skip_buffers(std::size_t written);
  void on_written(error_code failure, std::size_t transferred);
  void do_close(error reason);

  std::unique_ptr<connection> connection_;
  const network_info remote_;
  outbox out_;
  std::shared_ptr<link_handler> handler_;
  limits limits_;
  std::uint8_t version_ = 1;

  // Reading: bytes [parsed_, filled_) of the buffer are the beginning of a frame.
  intrusive_ptr<chunk> buffer_;
  std::vector<intrusive_ptr<chunk>> spare_; // retired buffers, reused once nobody holds a slice
  std::size_t parsed_ = 0;
  std::size_t filled_ = 0;
  std::atomic<int> pauses_{0}; // queues that have paused us; reading stands still while > 0
  bool reading_ = false;

  // Writing: slices taken from the outbox, the first of them partly written. The loop writes, or a
  // publisher that finds the link idle.
  std::mutex writer_mutex_; // guards the following, and the connection's end
  std::vector<run_slice> slices_;
  std::vector<std::size_t> slice_bytes_; // of each, as encoded
  frame_encoder encoder_;
  std::vector<asio::const_buffer> buffers_; // what they are on the wire
  std::size_t first_buffer_ = 0;
  std::size_t first_slice_ = 0;
  std::size_t first_slice_written_ = 0;
  bool writing_ = false;
  std::chrono::steady_clock::time_point idle_since_;
  bool close_when_written_ = false;
  std::atomic<bool> closed_{false}; // set on the loop, read anywhere

  std::atomic<std::uint64_t> received_{0};
  std::atomic<std::uint64_t> bytes_received_{0};
  std::atomic<std::uint64_t> bytes_sent_{0};
};

} // namespace pubsub
