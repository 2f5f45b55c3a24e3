// The messages of a group of replicas and its clients, as values in bin::v1, and how a replica or
// client sends them. Pure: values in, values out.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <variant>
#include <vector>

#include <pubsub/data_view.hpp>
#include <pubsub/pattern/versioned_options.hpp>
#include <pubsub/value/endpoint_id.hpp>

#include "pattern/mailbox/message_fields.hpp"
#include "pattern/mailbox/pattern_topic.hpp"

namespace pubsub::pattern {

/// There is at least one number, and numbers do not overflow.
constexpr bool is_range(std::uint64_t first, std::uint64_t count) noexcept {
  return count > 0 && first + count > first;
}

/// The numbers from `first` up to the next run have this epoch.
struct epoch_run {
  std::uint64_t first = 0;
  std::uint64_t epoch = 0;

  friend bool operator==(const epoch_run&, const epoch_run&) = default;
  static auto fields(auto& x) { return std::tie(x.first, x.epoch); }
};

/// `count` messages of a client, from its `client_first` on, have the versions from `at` on.
struct version_run {
  std::uint64_t client_first = 0;
  std::uint64_t count = 0;
  message_version at;
  std::uint64_t config = 0; ///< the list of members that was in force when they got them

  std::uint64_t last() const noexcept { return at.number + count - 1; }
  friend bool operator==(const version_run&, const version_run&) = default;
  static auto fields(auto& x) {
    return std::tie(x.client_first, x.count, x.at.epoch, x.at.number, x.config);
  }
  bool adds_up() const { return is_range(client_first, count) && is_range(at.number, count); }
};

/// The members of a group from some point on. Lists of an epoch are numbered; each differs from the
/// one before by one member, so that majorities of the two have a member in common.
struct member_list {
  std::uint64_t epoch = 0;
  std::uint64_t number = 0;
  std::vector<endpoint_id> members;

  static auto fields(auto& x) { return std::tie(x.epoch, x.number, x.members); }
  bool newer_than(const member_list& x) const noexcept {
    return epoch != x.epoch ? epoch > x.epoch : number > x.number;
  }
};

enum class replica_role : std::uint8_t { follower, candidate, leader };

/// What a replica knows of its group. Its role is its own affair.
struct epoch_state {
  endpoint_id group;          ///< nil: none yet
  std::uint64_t promised = 0; ///< messages of earlier epochs are refused
  endpoint_id promised_to;    ///< the candidate of that epoch
  std::uint64_t number = 0;   ///< the last epoch that has begun here
  endpoint_id leader;         ///< of that epoch
  replica_role role = replica_role::follower;
  member_list list;          ///< the newest that is known
  std::uint64_t decided = 0; ///< the newest list of the epoch that is known to be in force

  static auto fields(auto& x) {
    return std::tie(x.group, x.promised, x.promised_to, x.number, x.leader, x.list, x.decided);
  }
  /// No later epoch was promised.
  bool is_current() const noexcept { return number == promised; }
  /// The newest list is not in force yet.
  bool list_pending() const noexcept { return decided < list.number; }
  bool follows() const noexcept { return role == replica_role::follower; }
  /// This replica is the sequencer: its first list is in force.
  bool leads() const noexcept { return role == replica_role::leader && decided > 0; }

  /// Adopts the list if it is newer.
  bool learn(member_list x) {
    const bool newer = x.newer_than(list);
    if (newer)
      list = std::move(x);
    return newer;
  }
  void decide(std::uint64_t list_number) { decided = std::max(decided, list_number); }
};

/// How far a client is: what the sequencer needs to know of its past.
struct client_progress {
  endpoint_id client;
  std::uint64_t next = 0;
  std::vector<version_run> recent;

  static auto fields(auto& x) { return std::tie(x.client, x.next, x.recent); }
};

// `from` is the part in whose name a message is; those without it are the leader's.

/// Client to all: who are the replicas?
struct hello_message {
  static constexpr std::uint64_t kind = 1;
  endpoint_id client;

  const endpoint_id& from() const noexcept { return client; }
  static auto fields(auto& x) { return std::tie(x.client); }
};

/// Replica to all, periodically and after a change: its own state. To the candidate of an epoch
/// that it has promised, this is the promise.
struct status_message {
  static constexpr std::uint64_t kind = 2;
  endpoint_id replica;
  std::string name;
  std::uint64_t group_size = 0, age_ms = 0;
  epoch_state at;
  bool leads = false; ///< the replica is the sequencer of this epoch
  bool is_member = false;
  std::uint64_t held = 0; ///< from the leader: the last number that it has given
  std::uint64_t commit = 0;
  std::uint64_t live = 0; ///< members that were heard recently

  const endpoint_id& from() const noexcept { return replica; }
  static auto fields(auto& x) {
    return std::tie(x.replica, x.name, x.group_size, x.age_ms, x.at, x.leads, x.is_member, x.held,
                    x.commit, x.live);
  }
};

/// Client to the leader, or to all replicas where the scheme says so: messages that need versions,
/// or with scheme `none` get none.
struct submit_message {
  static constexpr std::uint64_t kind = 3;
  endpoint_id group, client;
  endpoint_id leader;        ///< gives the versions
  std::uint64_t scheme = 0;  ///< a `versioning`
  std::uint64_t settled = 0; ///< the client awaits no versions of messages below
  std::uint64_t first = 0, count = 0;
  value_list values; ///< none with `version_request`: the client sends them under their versions

  const endpoint_id& from() const noexcept { return client; }
  static auto fields(auto& x) {
    return std::tie(x.group, x.client, x.leader, x.scheme, x.settled, x.first, x.count, x.values);
  }
  bool asks(versioning x) const noexcept { return scheme == static_cast<std::uint64_t>(x); }
  bool adds_up() const;
};

/// What a record asks of its receivers, and where it comes from; bits.
namespace record_flag {
inline constexpr std::uint64_t ack_client = 1;  ///< each replica acknowledges to the client
inline constexpr std::uint64_t ack_leader = 2;  ///< each replica acknowledges to the leader at once
inline constexpr std::uint64_t from_client = 4; ///< the client has sent it, not the leader
inline constexpr std::uint64_t repeated = 8;    ///< the answer to a fetch
inline constexpr std::uint64_t last = 16;       ///< the last of such an answer
inline constexpr std::uint64_t submitted = 32;  ///< without values: the client submits them to all
} // namespace record_flag

/// To replicas: messages under their versions. Without a client `run.count` numbers are void.
struct record_message {
  static constexpr std::uint64_t kind = 4;
  endpoint_id group;
  std::uint64_t epoch = 0; ///< of the sender
  std::uint64_t commit = 0;
  std::uint64_t flags = 0;
  endpoint_id client;
  version_run run;
  value_list values;

  static auto fields(auto& x) {
    return std::tie(x.group, x.epoch, x.commit, x.flags, x.client, x.run, x.values);
  }
  bool adds_up() const;
};

/// What a client learns of its messages.
enum class reply : std::uint64_t {
  numbered,          ///< from the leader: they have versions
  numbered_and_held, ///< the same, and the leader holds them
  held,              ///< this replica holds them
  held_by_all,       ///< from the leader: all members do
};

/// Replica to a client: the versions of its messages.
struct reply_message {
  static constexpr std::uint64_t kind = 5;
  endpoint_id replica;
  std::uint64_t epoch = 0;
  std::uint64_t what = 0; ///< a `reply`
  std::vector<version_run> runs;

  const endpoint_id& from() const noexcept { return replica; }
  static auto fields(auto& x) { return std::tie(x.replica, x.epoch, x.what, x.runs); }
  bool is(reply x) const noexcept { return what == static_cast<std::uint64_t>(x); }
  bool adds_up() const { return what <= static_cast<std::uint64_t>(reply::held_by_all); }
};

/// Replica to the leader: it holds the leader's numbers up to `held`, and knows this list.
struct held_message {
  static constexpr std::uint64_t kind = 6;
  endpoint_id group, replica;
  std::uint64_t epoch = 0, config = 0, held = 0;
  bool lacks_next = false; ///< the leader is to send what follows again

  const endpoint_id& from() const noexcept { return replica; }
  static auto fields(auto& x) {
    return std::tie(x.group, x.replica, x.epoch, x.config, x.held, x.lacks_next);
  }
};

/// Leader to replicas: all members hold the numbers up to `commit`.
struct commit_message {
  static constexpr std::uint64_t kind = 7;
  endpoint_id group;
  std::uint64_t epoch = 0, commit = 0;

  static auto fields(auto& x) { return std::tie(x.group, x.epoch, x.commit); }
};

/// Candidate to replicas: it wants to lead an epoch. `first_members`: those of a new group.
struct prepare_message {
  static constexpr std::uint64_t kind = 8;
  endpoint_id group, candidate;
  std::uint64_t epoch = 0;
  std::vector<endpoint_id> first_members;

  const endpoint_id& from() const noexcept { return candidate; }
  static auto fields(auto& x) { return std::tie(x.group, x.candidate, x.epoch, x.first_members); }
};

/// Leader to replicas: its epoch begins. What they hold above `commit` must have the epochs of
/// `runs`; above `end` there is nothing. Runs of the new epoch itself are void.
struct start_message {
  static constexpr std::uint64_t kind = 9;
  epoch_state at;
  std::uint64_t group_size = 0, commit = 0, end = 0;
  std::vector<epoch_run> runs;

  const endpoint_id& from() const noexcept { return at.leader; }
  static auto fields(auto& x) { return std::tie(x.at, x.group_size, x.commit, x.end, x.runs); }
  bool adds_up() const;
};

/// Leader to one replica: the state as of `at`, and what it takes to go on from there. Without a
/// state, the numbers up to `at` are in no history any more and there is no snapshot.
struct snapshot_message {
  static constexpr std::uint64_t kind = 10;
  endpoint_id group;
  std::uint64_t epoch = 0;
  message_version at;
  std::vector<client_progress> clients;
  value_list state; ///< one value, or none

  static auto fields(auto& x) {
    return std::tie(x.group, x.epoch, x.at.epoch, x.at.number, x.clients, x.state);
  }
  bool adds_up() const { return at.number > 0 && state.count <= 1; }
};

using group_message =
    std::variant<hello_message, status_message, submit_message, record_message, reply_message,
                 held_message, commit_message, prepare_message, start_message, snapshot_message>;

/// Nothing if it is malformed. Spans are valid as long as the bytes of `value`.
std::optional<group_message> parse_message(const data_view& value);

enum class versioned_target : std::uint8_t { all_replicas, replica, client, everyone };

/// Whatever carries the messages. No call blocks. False: the message was not taken, or it has no
/// receiver. Not thread-safe.
class versioned_port {
public:
  bool to_replicas(const auto& x) { return send(versioned_target::all_replicas, {}, encoded(x)); }
  bool to_replica(const endpoint_id& id, const auto& x) {
    return send(versioned_target::replica, id, encoded(x));
  }
  bool to_client(const endpoint_id& id, const auto& x) {
    return send(versioned_target::client, id, encoded(x));
  }
  bool to_everyone(const auto& x) { return send(versioned_target::everyone, {}, encoded(x)); }
  /// For a message that several receive; valid until the next call.
  std::span<const std::byte> encoded(const auto& x) { return buffer_.encode(x); }
  /// `id` is that of the replica or client; else it is not used.
  virtual bool send(versioned_target to, const endpoint_id& id,
                    std::span<const std::byte> message) = 0;

protected:
  ~versioned_port() = default;

private:
  message_buffer buffer_;
};

/// Where replicas of a group publish their status, and clients say hello.
inline constexpr topic_kind topic_of_status{"versioned/status"};
/// What all replicas of a group receive.
inline constexpr topic_kind topic_of_replicas{"versioned/replicas"};
/// What one replica, one client receives.
inline constexpr topic_kind topic_of_replica{"versioned/replica"};
inline constexpr topic_kind topic_of_client{"versioned/client"};

} // namespace pubsub::pattern
