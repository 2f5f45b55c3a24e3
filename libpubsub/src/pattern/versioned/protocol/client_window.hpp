// The messages that a client of a group has sent, until they are acknowledged. Pure: messages and
// the time in, messages and results out.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <pubsub/data_message.hpp>
#include <pubsub/error.hpp>

#include "pattern/mailbox/speakers.hpp"
#include "pattern/versioned/protocol/replica_directory.hpp"

namespace pubsub::pattern {

/// What became of messages that were sent together.
struct finished_run {
  std::uint64_t first = 0;
  std::uint64_t count = 0;
  message_version at; ///< of the first
  pubsub::error error;
};

/// Messages go in batches: while batches are under way, further messages wait until theirs is full
/// or until one of those is acknowledged. Not thread-safe.
class client_window {
public:
  /// A message to all replicas that none receives was not sent.
  static constexpr bool may_be_alone = false;

  client_window(const endpoint_id& id, std::string group_name,
                const versioned_group_options& options, versioned_port& port, time_point now)
      : id_(id), group_name_(std::move(group_name)), options_(options), port_(port),
        replicas_(id, tuning::leader_memory), next_hello_(now), next_tick_(now) {}

  bool has_room() const noexcept {
    return in_flight_ == 0 ||
           (in_flight_ < options_.window_messages && bytes_ < options_.window_bytes);
  }
  /// Returns the number of the message.
  std::uint64_t add(std::span<const std::byte> value, time_point now);
  /// Messages that were added do not wait until their batch is full.
  void send_pending(time_point now);
  /// After messages were added or received: sends what may go.
  void settle(time_point now);

  void receive(const data_message& msg, time_point now);
  void tick(time_point now);
  time_point next_tick() const noexcept { return next_tick_; }
  void lose(const endpoint_id& replica);

  const endpoint_id& id() const noexcept { return id_; }
  const versioned_group_options& options() const noexcept { return options_; }
  std::vector<finished_run> take_finished() { return std::exchange(finished_, {}); }
  std::size_t in_flight() const noexcept { return in_flight_; }
  /// Members that are alive, as far as is known here.
  std::size_t replicas(time_point now) const;
  const versioned_group_counters& counters() const noexcept { return counters_; }
  const error& failure() const noexcept { return failure_; }
  id_list known_replicas() const { return replicas_.all(); }

private:
  struct batch {
    std::uint64_t first = 0;
    std::uint64_t count = 0;
    data_writer values;
    time_point made{};
    bool sent = false;      // in this epoch
    bool ever_sent = false; // a replica may have it: nothing more is added
    time_point sent_at{};
    unsigned tries = 0;
    version_run run; // number 0: not known
    id_list acks;
  };
  using batches = std::deque<batch>;

  bool is_full(const batch& x) const noexcept;
  bool is_ready() const noexcept;
  std::size_t limit_for(const batch& x) const noexcept;
  bool transmit(batch& what, time_point now);
  void send_with_versions(const batch& what);

  void hear(const status_message& x, time_point now);
  void hear(const reply_message& x, time_point now);
  void hear(const auto&, time_point) {} // for replicas
  void begin_epoch(const status_message& x);
  bool is_held(const batch& what) const;
  void finish_held();
  batches::iterator finish(batches::iterator what, const message_version& at, error why);
  void give_up(time_point now);
  std::string explain(const batch& what, time_point now) const;
  const id_list* list(std::uint64_t config) const;

  const endpoint_id id_;
  const std::string group_name_;
  const versioned_group_options options_;
  versioned_port& port_;

  epoch_state at_;                         // in the words of its leader
  std::map<std::uint64_t, id_list> lists_; // of members in the epoch, by number
  replica_directory replicas_;
  speakers speakers_;
  time_point leader_heard_{};
  time_point next_hello_{};

  batches batches_;           // by number; those that are sent come first
  std::size_t under_way_ = 0; // batches that are sent
  std::vector<data_writer> spare_;
  std::uint64_t next_number_ = 1;
  std::uint64_t pending_below_ = 0; // batches that begin with a lower number do not wait
  std::size_t in_flight_ = 0;
  std::size_t bytes_ = 0;
  std::vector<finished_run> finished_;
  time_point next_tick_{};
  versioned_group_counters counters_;
  error failure_;
};

} // namespace pubsub::pattern
