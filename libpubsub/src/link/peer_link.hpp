// One peer as the rest of the node sees it, whatever carries the bytes.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>

#include <pubsub/counters.hpp>
#include <pubsub/error.hpp>
#include <pubsub/status.hpp>

#include "access/access.hpp"
#include "base/held_bytes.hpp"
#include "link/link_protocol.hpp"
#include "message/chunk.hpp"

namespace pubsub {

/// What a link reports to its session. All calls come on the link's loop and must not block.
class link_handler {
public:
  virtual ~link_handler() = default;
  /// Whole frames have arrived, as they lie in a read buffer: `u32 length`, payload, and so on.
  /// They may be patched in place until a slice of them has been handed on. May pause the link's
  /// gates. Returns how many bytes it has taken: the frames behind those come again when the link
  /// does not rest any more.
  virtual std::size_t on_frames(const intrusive_ptr<chunk>& owner, std::span<std::byte> frames) = 0;
  /// The connection is gone; the last call. `reason` is none if this side closed it.
  virtual void on_closed(const error& reason) = 0;
};

/// A timer of the loop that a link lives on. Thread-safety: that loop only.
class loop_timer {
public:
  virtual ~loop_timer() = default;
  /// Calls `on_expiry` after `delay`, in place of what it was started for before.
  virtual void start(std::chrono::nanoseconds delay, std::function<void()> on_expiry) = 0;
  virtual void stop() = 0;
};

/// What waits for a peer, how much that may be, and the loop on which everything about the peer
/// happens. `link` carries it over a connection; tests put a fake one in its place. Thread-safety:
/// what waits, `post`, `close`, `close_when_written`, `closed` and `counters` from any thread, the
/// rest from the link's loop.
class peer_link : public std::enable_shared_from_this<peer_link>, public outboxes {
public:
  using clock = std::chrono::steady_clock;

  virtual ~peer_link() = default;
  peer_link(const peer_link&) = delete;
  peer_link& operator=(const peer_link&) = delete;

  // -- the loop ----------------------------------------------------------------------------------

  /// Starts reading and writing. The handler is kept alive until `on_closed` has returned.
  virtual void start(std::shared_ptr<link_handler> handler) = 0;
  /// Runs `job` on the loop, later.
  virtual void post(std::function<void()> job) = 0;
  virtual std::unique_ptr<loop_timer> make_timer() = 0;
  virtual clock::time_point now() const = 0;
  /// Closes at once. What is not yet written counts as dropped.
  virtual void close(error reason = {}) = 0;
  /// Closes once everything queued before is written.
  virtual void close_when_written() = 0;
  bool closed() const noexcept { return closed_.load(std::memory_order_acquire); }

  // -- what the versions do differently ----------------------------------------------------------

  /// The handshake is over: from here on frames as `version` has them, up to this length.
  void begin_messages(std::uint8_t version, const endpoint_id& self, std::uint32_t max_frame_bytes);
  std::uint8_t version() const noexcept { return version_; }
  /// Whether `pause_reading` holds; on the loop.
  bool resting() const noexcept { return resting_; }
  /// Whether reading stands still, and how often full queues have asked for that.
  bool paused() const noexcept { return resting_ || !protocol_->may_read(gates_); }
  std::uint64_t pause_count() const noexcept { return protocol_->pause_count(gates_); }
  /// What a full queue pauses; in version 1 there is only the first.
  credit_gate& gate(std::size_t hops = 0) noexcept { return gates_[hops]; }
  /// As `credit_gate::took`; on the loop.
  bool took(std::size_t hops, std::size_t bytes) noexcept {
    used_gates_ = std::max(used_gates_, hops + 1);
    return gates_[hops].took(bytes);
  }
  std::weak_ptr<flow_source> source(std::size_t hops = 0) {
    return std::shared_ptr<flow_source>{shared_from_this(), &gates_[hops]};
  }
  /// Whether the peer has had credit back; in version 1 there is none.
  bool is_known() const noexcept {
    return version_ == 1 || std::ranges::any_of(gates_, &credit_gate::has_given);
  }
  /// Whether a queue that this peer fills is full, although it has had no credit back so far.
  bool is_new_and_paused() const noexcept {
    return std::ranges::any_of(std::span{gates_}.first(used_gates_), [](const credit_gate& each) {
      return each.paused() && !each.has_given();
    });
  }
  /// Nothing is read for so long from now on, or until a queue has room again; on the loop.
  void pause_reading(std::chrono::nanoseconds time, bool or_until_room = false);
  /// Before the messages that wait. A peer that asks and does not read the answers loses its link.
  void push_answer(std::span<const std::byte> frame);
  /// Version 2: the peer can take more.
  void grant(const wire::credit& x);

  // -- looking -----------------------------------------------------------------------------------

  const network_info& remote() const noexcept { return remote_; }
  /// Who the peer is. On the loop, once the peer has spoken.
  virtual peer_identity identity() const { return {}; }
  /// Between the two hosts, as the connection measures it, where it does. On the loop.
  virtual std::optional<std::chrono::microseconds> round_trip() const { return {}; }
  /// Memory that both sides share to carry bytes; 0 where there is none. From any thread.
  virtual std::size_t shared_bytes() const noexcept { return 0; }
  /// The rule that holds for the peer; null: it may do everything. From any thread.
  access_ptr access() const {
    std::lock_guard lock{access_mutex_};
    return access_;
  }
  /// Before messages begin, and in place of it later.
  void set_access(access_ptr rule);
  /// Bytes of topics that the peer has announced, as long as anything holds them. From any thread.
  const held_bytes::total& topic_bytes() const noexcept { return topic_bytes_; }
  /// Whether anything has come from the peer.
  virtual bool has_spoken() const noexcept {
    return bytes_received_.load(std::memory_order_relaxed) > 0;
  }
  link_counters counters() const;
  void count_received(std::uint64_t messages) noexcept {
    received_.fetch_add(messages, std::memory_order_relaxed);
  }

protected:
  peer_link(network_info remote, const queue_options& options, std::uint32_t max_frame_bytes);

  /// There is something to be written; from any thread.
  virtual void on_work() = 0;
  /// A gate was the last one paused; from any thread.
  virtual void on_resume() = 0;
  /// On the loop, after `on_resume`.
  void note_room() {
    if (std::exchange(rests_until_room_, false))
      resting_ = false;
    give_credit(true);
  }
  void give_credit(bool small_too) {
    if (!closed())
      protocol_->give_credit(std::span{gates_}.first(used_gates_), *this, small_too);
  }

  link_protocol::gates gates_;
  std::size_t used_gates_ = 0; // something has come by the last of these
  frame_bounds bounds_;
  std::mutex writer_mutex_; // guards what writes: the protocol's part, and that of `link`
  std::unique_ptr<link_protocol> protocol_;
  std::atomic<bool> closed_{false}; // set on the loop, read anywhere
  std::atomic<std::uint64_t> bytes_received_{0};
  std::atomic<std::uint64_t> bytes_sent_{0};

private:
  const network_info remote_;
  std::uint8_t version_ = 1;
  bool resting_ = false;
  bool rests_until_room_ = false;
  clock::time_point rest_until_{};
  std::unique_ptr<loop_timer> rest_; // null until needed
  std::atomic<std::uint64_t> received_{0};
  const held_bytes::total topic_bytes_ = std::make_shared<std::atomic<std::size_t>>(0);
  mutable std::mutex access_mutex_; // guards access_
  access_ptr access_;
};

/// A frame that routing has made, for some peers. Routing returns letters; the caller delivers
/// them.
struct letter {
  std::vector<std::shared_ptr<peer_link>> to;
  std::vector<std::byte> frame;
};
using letters = std::vector<letter>;

/// Pushes each frame before the messages that wait. A peer that does not read what it is sent about
/// the network loses its link. Never blocks.
void deliver(const letters& all);

} // namespace pubsub
