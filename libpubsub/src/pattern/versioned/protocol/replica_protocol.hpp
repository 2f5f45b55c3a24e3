// One replica of a group, as a state machine: messages and the time in, messages out. Pure.
// docs/decisions/019 argues why no acknowledged version is lost.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <pubsub/error.hpp>
#include <pubsub/pattern/versioned.hpp>

#include "pattern/mailbox/speakers.hpp"
#include "pattern/versioned/protocol/epoch_agreement.hpp"
#include "pattern/versioned/protocol/log_follower.hpp"
#include "pattern/versioned/protocol/sequencer.hpp"

namespace pubsub::pattern {

/// Hands each message to the part that it is for, and says what one part means for the others:
/// `epoch_agreement` (who leads), `group_membership` and `sequencer` (while this replica leads),
/// `log_follower` (what the log gets), `replica_log` (what is held). Not thread-safe.
class replica_protocol {
public:
  /// A message to all replicas that no other receives counts as sent.
  static constexpr bool may_be_alone = true;

  /// `options` must be valid and are copied.
  replica_protocol(const endpoint_id& id, std::string name, const replica_options& options,
                   versioned_port& port, time_point now);
  replica_protocol(const replica_protocol&) = delete;
  replica_protocol& operator=(const replica_protocol&) = delete;

  void receive(const data_message& msg, time_point now);
  /// After the last of several messages: sends what they have in common.
  void settle(time_point now);
  /// Does what is due.
  void tick(time_point now);
  /// When `tick` must be called, at the latest.
  time_point next_tick() const noexcept { return next_tick_; }
  /// A replica was within reach and is not any more.
  void lose(const endpoint_id& replica) { self_.others.lose(replica); }
  /// This process has not read, or was stopped: the silence of others says nothing.
  void excuse_silence(time_point now);

  /// Hands out messages that are committed, at most `max`.
  std::size_t take(std::vector<versioned_message>& out, std::size_t max);
  std::size_t available() const noexcept { return unversioned_.size() + log().available(); }

  /// Another replica needs the state as of what was handed out.
  bool needs_snapshot() const { return leading_ && leading_->versions.needs_snapshot(); }
  void give_snapshot(std::span<const std::byte> state) {
    if (leading_)
      leading_->versions.send_snapshot(state);
  }
  /// A state that must be taken over before anything more is handed out.
  bool needs_restore() const noexcept { return restore_.has_value(); }
  std::optional<std::pair<snapshot_message, data_message>> take_restore() {
    return std::exchange(restore_, std::nullopt);
  }

  const std::string& name() const noexcept { return self_.name; }
  const replica_options& options() const noexcept { return self_.options; }
  const replica_log& log() const noexcept { return self_.log; }
  const epoch_state& epoch() const noexcept { return self_.epoch; }
  replica_state state() const;
  /// Members that are alive.
  std::size_t replicas() const {
    return self_.others.count_alive(self_.epoch.list.members, last_tick_);
  }
  replica_counters counters() const noexcept { return self_.counters; }
  const error& failure() const noexcept { return failure_; }
  id_list known_replicas() const { return self_.others.all(); }

private:
  /// What a replica has while it leads.
  struct leadership {
    leadership(replica_context& self, time_point now)
        : members(self, now), versions(self, members) {}

    group_membership members;
    sequencer versions;
  };

  bool refuses(const endpoint_id& group, std::uint64_t epoch, const endpoint_id& from,
               const data_message& msg, time_point now);
  void hear(const reply_message&, const data_message&, time_point) { ++self_.counters.refused; }
  void hear(const hello_message& x, const data_message& msg, time_point now);
  void hear(const status_message& x, const data_message& msg, time_point now);
  void hear(const submit_message& x, const data_message& msg, time_point now);
  void hear(const record_message& x, const data_message& msg, time_point now);
  void hear(const commit_message& x, const data_message& msg, time_point now);
  void hear(const held_message& x, const data_message& msg, time_point now);
  void hear(const prepare_message& x, const data_message& msg, time_point now);
  void hear(const start_message& x, const data_message& msg, time_point now);
  void hear(const snapshot_message& x, const data_message& msg, time_point now);

  void hand_out_unversioned(const submit_message& x, const data_message& msg);
  void follow_role(time_point now);
  void contest_name(const status_message& x, time_point now);
  void publish_status(time_point now);
  void fail(errc code, std::string why);

  replica_context self_;
  speakers speakers_;
  const time_point begun_;
  epoch_agreement epochs_;
  log_follower follower_;
  std::optional<leadership> leading_;

  std::deque<versioned_message> unversioned_; // to be handed out
  std::optional<std::pair<snapshot_message, data_message>> restore_;
  time_point next_status_;
  time_point next_tick_;
  time_point last_tick_;
  error failure_;
};

} // namespace pubsub::pattern
