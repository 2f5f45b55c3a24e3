// Fills the log of a replica with what the leader and clients send, acknowledges what is held, and
// fetches what is missing. Pure.
#pragma once

#include <chrono>
#include <optional>

#include "pattern/versioned/protocol/client_replies.hpp"
#include "pattern/versioned/protocol/epoch_agreement.hpp"
#include "pattern/versioned/protocol/tagged_batches.hpp"

namespace pubsub::pattern {

/// Not thread-safe. Messages of other epochs than the current one are kept away from it.
class log_follower {
public:
  using time = std::chrono::steady_clock::time_point;

  log_follower(const endpoint_id& own, epoch_agreement& epochs, replica_log& log,
               client_replies& replies, versioned_port& port, replica_counters& counters)
      : own_(own), epochs_(epochs), state_(epochs.state()), log_(log), replies_(replies),
        port_(port), counters_(counters) {}

  void hear(const record_message& x, const data_message& msg, time now);
  void hear(const stamp_message& x, time now);
  void hear(const tagged_message& x, const data_message& msg, time now);
  void hear(const commit_message& x, time now);
  /// From the leader: how far it is.
  void hear(const status_message& x, time now);

  /// This replica begins an epoch as its leader; another one does.
  void begin_epoch();
  void begin_epoch(const start_message& x, time now);

  /// The leader waits for an acknowledgement: at once, or within `tuning::ack_delay`.
  void owe_ack(bool urgent, time now);
  void acknowledge_to_leader();
  void fetch(time now);
  /// After several messages.
  void settle() {
    if (ack_now_)
      acknowledge_to_leader();
  }
  void tick(time now);
  time next_tick(time now) const;

private:
  bool follows() const noexcept { return state_.role == replica_role::follower; }
  bool lacks_numbers() const { return log_.end() < leader_end_ || log_.has_gap(); }
  void place(log_entry what, std::uint64_t flags, time now);
  void acknowledge_above(std::uint64_t number);
  void learn_commit(std::uint64_t commit);

  const endpoint_id own_;
  epoch_agreement& epochs_;
  const epoch_state& state_;
  replica_log& log_;
  client_replies& replies_;
  versioned_port& port_;
  replica_counters& counters_;

  tagged_batches tagged_;
  std::uint64_t leader_end_ = 0; // the highest number that is known to be given
  std::uint64_t leader_commit_ = 0;
  std::optional<time> ack_owed_;
  bool ack_now_ = false;
  std::uint64_t gap_at_ = 0; // the log ended there
  time gap_since_{};
  time fetched_{};
};

} // namespace pubsub::pattern
