// Runs of received messages: gathered as long as they take one route, then handed on.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <memory>
#include <span>

#include "link/peer_link.hpp"
#include "message/slab.hpp"
#include "node/flow/live_counters.hpp"
#include "node/flow/record_stream.hpp"
#include "node/flow/tuning.hpp"
#include "node/routing/route.hpp"

namespace pubsub {

/// Consecutive messages with the same route are handed on as one run of the very bytes that came
/// in: to queues, and to the outboxes of other links. What a Broker peer sends enters the network
/// as records of a stream of ours. Thread-safety: the link's loop.
class run_forwarder {
public:
  /// Messages next to each other that take the same route.
  struct pending_run {
    const route* to = nullptr; // null: there is none
    bool deliver = true;       // to queues and Broker peers
    bool pass_on = false;      // to links
    std::byte* begin = nullptr;
    run_position size;
    const topic_table* topics = nullptr; // of records
    run_origin origin;                   // of records
  };

  run_forwarder(const endpoint_id& self, std::shared_ptr<peer_link> via,
                std::shared_ptr<live_counters> counts);

  /// The frames that follow lie in this buffer, as part of so many bytes.
  void begin_buffer(const intrusive_ptr<chunk>& owner, std::size_t size) noexcept {
    owner_ = &owner;
    buffer_size_ = size;
  }
  void end_buffer() {
    end_run();
    owner_ = nullptr;
  }
  /// What keeps these bytes of the buffer alive: the buffer, or a copy that `bytes` points to from
  /// then on.
  intrusive_ptr<chunk> owner_of(std::span<std::byte>& bytes) const;
  /// The messages that follow have come so many hops.
  void set_hops(std::size_t hops) noexcept { hops_ = hops; }
  /// Bits: the numbers of hops that messages of Broker peers had come when they entered the
  /// network.
  std::uint16_t hops_entered() const noexcept { return entered_; }
  void forget_topics() noexcept { entering_.forget_topics(); }

  /// A frame of version 1.
  void join(const route& to, bool pass_on, std::byte* frame, std::size_t size) {
    const bool continues =
        run_.to == &to && run_.pass_on == pass_on && run_.begin + run_.size.bytes == frame;
    if (!continues) {
      end_run();
      run_.to = &to;
      run_.pass_on = pass_on;
      run_.begin = frame;
    }
    run_.size.bytes += size;
    ++run_.size.messages;
  }
  /// Records: whether they continue the run at hand, and a run they begin.
  bool continues(const route& to, bool deliver) const noexcept {
    return run_.to == &to && run_.deliver == deliver;
  }
  void begin_run(const pending_run& fresh) {
    end_run();
    run_ = fresh;
  }
  void join(run_position size) noexcept {
    run_.size.bytes += size.bytes;
    run_.size.messages += size.messages;
  }
  void end_run();

private:
  using exit_span = std::span<bounded_queue* const>;

  bool is_small(std::size_t bytes) const noexcept {
    return bytes * flow_tuning::least_part_of_buffer < buffer_size_;
  }
  void pass_on(const route& to, const intrusive_ptr<message_run>& run);
  void hand_on(exit_span to, const intrusive_ptr<message_run>& run);
  void enter_network(const route& to, const std::byte* frames, run_position size);
  void hand_to_network(const route& to, const intrusive_ptr<message_run>& run);
  intrusive_ptr<message_run> run_at(const chunk* owner, const std::byte* begin) const;
  intrusive_ptr<message_run> copy_run();

  const std::shared_ptr<peer_link> via_;
  const std::shared_ptr<live_counters> counts_;
  std::array<std::weak_ptr<flow_source>, wire::max_hops> sources_; // what a full queue pauses
  std::size_t hops_ = 0;
  const intrusive_ptr<chunk>* owner_ = nullptr; // of the frames at hand
  std::size_t buffer_size_ = 0;
  pending_run run_;
  slab copies_; // of short runs
  std::uint16_t entered_ = 0;
  record_stream entering_; // what a Broker peer sends
};

} // namespace pubsub
