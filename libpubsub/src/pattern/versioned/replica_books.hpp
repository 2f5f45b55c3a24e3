// One replica of a group: what it holds, whom it follows, what it stamps. Pure: messages and the
// time in, messages out. docs/decisions/019 tells why it is right.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include <pubsub/data_message.hpp>
#include <pubsub/data_writer.hpp>
#include <pubsub/endpoint_id.hpp>
#include <pubsub/error.hpp>
#include <pubsub/pattern/versioned.hpp>

#include "pattern/versioned/membership.hpp"
#include "pattern/versioned/replica_log.hpp"
#include "pattern/versioned/versioned_messages.hpp"

namespace pubsub::pattern {

/// The ways out of a replica or client. None blocks; false: it was not taken, or nobody is there.
class versioned_port {
public:
  virtual bool to_replicas(std::span<const std::byte> message) = 0;
  virtual bool to_replica(const endpoint_id& id, std::span<const std::byte> message) = 0;
  virtual bool to_client(const endpoint_id& id, std::span<const std::byte> message) = 0;
  virtual bool to_everyone(std::span<const std::byte> message) = 0;

protected:
  ~versioned_port() = default;
};

/// Not thread-safe.
class replica_books {
public:
  using clock = std::chrono::steady_clock;
  using time = clock::time_point;

  replica_books(const endpoint_id& id, std::string name, const replica_options& options,
                versioned_port& port, time now);

  void receive(const data_message& msg, time now);
  /// After the last of several messages: sends what they have in common.
  void settle(time now);
  /// Does what is due.
  void tick(time now);
  /// When `tick` wants to be called, at the latest.
  time next_tick() const noexcept { return next_tick_; }
  /// Somebody was within reach and is not any more.
  void lose(const endpoint_id& replica);
  /// Nothing was read on purpose, or could be: nobody is to blame for his silence.
  void excuse_silence(time now);

  std::size_t take(std::vector<versioned_message>& out, std::size_t max);
  std::size_t available() const noexcept { return plain_.size() + log_.available(); }
  std::size_t waiting_bytes() const noexcept { return log_.waiting_bytes(); }

  /// Somebody needs the state after what was handed out.
  bool wants_restore() const noexcept { return restore_.has_value(); }
  bool wants_snapshot() const noexcept { return !want_snapshot_.empty(); }
  void give_snapshot(std::span<const std::byte> state, time now);
  /// A state that is to be taken over before anything more is handed out.
  std::optional<std::pair<snapshot_message, data_message>> take_restore();

  const message_version& applied() const noexcept { return log_.applied(); }
  message_version held() const { return log_.held(); }
  replica_state state() const noexcept;
  bool leads() const noexcept { return role_ == role::leader && started_; }
  std::size_t replicas() const noexcept;
  /// Those that count, in the eyes of the leader, which this one must be; none while that changes.
  id_list members() const { return config_pending() ? id_list{} : decided_members_; }
  replica_counters counters() const noexcept { return counters_; }
  const error& failure() const noexcept { return failure_; }
  std::vector<endpoint_id> others() const;

private:
  enum class role : std::uint8_t { follower, candidate, leader };
  struct other {
    status_message status;
    time heard{};
    time first_heard{};
    bool gone = false; // out of reach
  };
  struct progress {
    std::uint64_t held = 0;
    std::uint64_t config = 0;
  };

  // messages
  template <class Message>
  bool on(const data_message& msg, const data_view& value, time now);
  void hear(const hello_message& x, const data_message& msg, time now);
  void hear(const status_message& x, const data_message& msg, time now);
  void hear(const submit_message& x, const data_message& msg, time now);
  void hear(const request_message& x, const data_message& msg, time now);
  void hear(const record_message& x, const data_message& msg, time now);
  void hear(const stamp_message& x, const data_message& msg, time now);
  void hear(const tagged_message& x, const data_message& msg, time now);
  void hear(const plain_message& x, const data_message& msg, time now);
  void hear(const held_message& x, const data_message& msg, time now);
  void hear(const commit_message& x, const data_message& msg, time now);
  void hear(const fetch_message& x, const data_message& msg, time now);
  void hear(const prepare_message& x, const data_message& msg, time now);
  void hear(const promise_message& x, const data_message& msg, time now);
  void hear(const start_message& x, const data_message& msg, time now);
  void hear(const snapshot_message& x, const data_message& msg, time now);
  void hear(const gone_message& x, const data_message& msg, time now);

  // stamping: replica_stamping.cpp
  bool may_stamp() const noexcept;
  bool is_new(const endpoint_id& client, std::uint64_t first, std::uint64_t settled,
              std::uint64_t scheme);
  void stamp(const endpoint_id& client, std::uint64_t first, const value_list& values,
             std::uint64_t scheme, const data_message& msg, time now);
  void grant(const endpoint_id& client, const stamped_run& run, bool holds);
  void forward_pending();
  bool forward(const log_entry& entry);
  bool send_record(const endpoint_id* to, const log_entry& entry, std::uint64_t wishes);
  void advance_commit(time now);
  void notify_committed(std::uint64_t from);
  void serve(const endpoint_id& replica, std::uint64_t from);

  // following
  bool is_of_now(const endpoint_id& group, std::uint64_t epoch);
  void place(log_entry what, std::uint64_t wishes, time now);
  void keep_body(const tagged_message& x, const data_message& msg);
  void ack_client(const endpoint_id& client, const stamped_run& run);
  void ack_clients_above(std::uint64_t number);
  void owe_ack(bool urgent, time now);
  void tell_held();
  void look_for_gaps(time now);
  void fetch(time now);
  void hear_commit(std::uint64_t commit);

  // epochs and members: replica_epochs.cpp
  bool lives(const endpoint_id& id, time now) const;
  bool leader_lives(time now) const;
  id_list fresh_ones(time now) const;
  bool knows_group(time now) const;
  void look_for_group(time now);
  void look_after_leader(time now);
  bool may_join(const status_message& x, time now) const;
  void look_after_members(time now);
  void run_for(std::uint64_t epoch, time now);
  void count_promises(time now);
  void lead(member_list members, time now);
  void step_down();
  bool is_member() const { return contains(config_.members, id_); }
  void check_members(time now);
  bool config_pending() const noexcept { return decided_ < config_.number; }
  void issue(id_list members, time now);
  void look_at_barrier(time now);
  void end_barrier(time now);
  void contest_name(const status_message& x, time now);
  void tell_status(time now);
  status_message status(time now) const;
  std::uint64_t highest_epoch() const;
  std::size_t rank(time now) const;
  void fail(errc code, std::string why);

  template <class Message>
  std::span<const std::byte> encoded(const Message& x) {
    scratch_.clear();
    write_message(scratch_, x);
    return scratch_.bytes();
  }

  const endpoint_id id_;
  const std::string name_;
  const replica_options options_;
  versioned_port& port_;
  const time begun_;
  data_writer scratch_;

  endpoint_id group_;          // nil: none yet
  endpoint_id promised_group_; // a new one that it has agreed to
  std::uint64_t promised_ = 0;
  endpoint_id promised_to_;
  std::uint64_t epoch_ = 0; // that has begun here
  endpoint_id leader_;
  role role_ = role::follower;
  member_list config_;
  replica_log log_;
  std::map<endpoint_id, other> others_;

  // of a candidate
  std::map<endpoint_id, member_list> promises_;
  id_list first_members_;
  time run_until_{};
  std::optional<time> run_at_; // once there is nobody to follow
  std::uint64_t runs_ = 0;     // in vain, one after the other

  // of the leader
  std::map<endpoint_id, progress> progress_;
  bool started_ = false;
  std::uint64_t decided_ = 0;
  id_list decided_members_;
  start_message start_;
  std::uint64_t forwarded_ = 0; // all up to here, as far as it can be told
  endpoint_id joins_;           // once it holds everything; until then nothing is stamped
  time joins_until_{};
  time next_join_{};
  std::deque<data_message> held_back_;
  std::optional<time> commit_owed_;
  std::optional<time> overtaken_since_;                   // somebody has promised a later epoch
  std::map<endpoint_id, std::vector<stamped_run>> dones_; // to clients
  std::set<endpoint_id> want_snapshot_;

  // of a follower
  time leader_heard_{};
  std::uint64_t leader_end_ = 0;
  std::uint64_t leader_commit_ = 0;
  std::optional<time> ack_owed_;
  bool ack_now_ = false;
  time gap_since_{};
  std::uint64_t gap_at_ = 0;
  time fetched_{};
  std::map<endpoint_id, std::vector<stamped_run>> acks_; // to clients
  struct loose_body {
    tagged_message what;
    data_message storage;
  };
  using place_of = std::pair<endpoint_id, std::uint64_t>; // a client and its number
  std::map<place_of, loose_body> bodies_;                 // without a stamp
  std::deque<place_of> bodies_in_order_;
  std::size_t bodies_bytes_ = 0;
  std::map<place_of, log_entry> stamps_; // without a body
  std::deque<versioned_message> plain_;
  std::optional<std::pair<snapshot_message, data_message>> restore_;

  time next_status_{};
  time next_tick_{};
  time last_tick_{};
  replica_counters counters_;
  error failure_;
};

} // namespace pubsub::pattern
