// The messages of a group of replicas and its clients, as values in bin::v1. Pure: values in,
// values out. Each message lists its fields once, for writing and reading.
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
#include <pubsub/data_writer.hpp>
#include <pubsub/pattern/versioned_options.hpp>
#include <pubsub/value/endpoint_id.hpp>

namespace pubsub::pattern {

/// Encoded values one behind the other; on the wire they are a vector.
struct value_list {
  std::uint64_t count = 0;
  std::span<const std::byte> bytes;
};

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

  friend bool operator==(const version_run&, const version_run&) = default;
  static auto fields(auto& x) {
    return std::tie(x.client_first, x.count, x.at.epoch, x.at.number, x.config);
  }
};

/// How far a client is: what the sequencer needs to know of its past.
struct client_progress {
  endpoint_id client;
  std::uint64_t next = 0;
  std::vector<version_run> recent;

  static auto fields(auto& x) { return std::tie(x.client, x.next, x.recent); }
};

/// Client to all: who are the replicas?
struct hello_message {
  endpoint_id client;

  static auto fields(auto& x) { return std::tie(x.client); }
};

/// Replica to all, periodically and after a change: its own state.
struct status_message {
  endpoint_id group; ///< nil: the replica belongs to no group yet
  endpoint_id replica;
  std::string name;
  std::uint64_t group_size = 0;
  std::uint64_t age_ms = 0;
  std::uint64_t promised = 0; ///< the replica accepts nothing from earlier epochs
  std::uint64_t epoch = 0;
  bool leads = false; ///< the replica is the sequencer of this epoch
  bool is_member = false;
  std::uint64_t held = 0; ///< from the leader: the last number that it has given
  std::uint64_t commit = 0;
  std::uint64_t config = 0;         ///< number of the list of members
  std::uint64_t decided = 0;        ///< the newest list that is in force
  std::uint64_t live = 0;           ///< members that were heard recently
  std::vector<endpoint_id> members; ///< the list; only from the leader

  static auto fields(auto& x) {
    return std::tie(x.group, x.replica, x.name, x.group_size, x.age_ms, x.promised, x.epoch,
                    x.leads, x.is_member, x.held, x.commit, x.config, x.decided, x.live, x.members);
  }
};

/// Client to the leader: messages that need versions. The client awaits none below `settled`.
struct submit_message {
  endpoint_id group, client;
  std::uint64_t settled = 0, first = 0;
  std::uint64_t scheme = 0;
  value_list values;

  static auto fields(auto& x) {
    return std::tie(x.group, x.client, x.settled, x.first, x.scheme, x.values);
  }
};

/// Client to the leader: asks for versions of messages that the client sends afterwards.
struct request_message {
  endpoint_id group, client;
  std::uint64_t settled = 0, first = 0;
  std::uint64_t count = 0;

  static auto fields(auto& x) { return std::tie(x.group, x.client, x.settled, x.first, x.count); }
};

/// Leader to a client: the versions of its messages. `holds`: the leader has the messages.
struct granted_message {
  endpoint_id replica;
  std::uint64_t epoch = 0;
  bool holds = false;
  std::vector<version_run> runs;

  static auto fields(auto& x) { return std::tie(x.replica, x.epoch, x.holds, x.runs); }
};

/// What a record asks of its receivers, and where it comes from; bits.
namespace record_flag {
inline constexpr std::uint64_t ack_client = 1;  ///< each replica acknowledges to the client
inline constexpr std::uint64_t ack_leader = 2;  ///< each replica acknowledges to the leader at once
inline constexpr std::uint64_t from_client = 4; ///< the client has sent it, not the leader
inline constexpr std::uint64_t repeated = 8;    ///< the answer to a fetch
inline constexpr std::uint64_t last = 16;       ///< the last of such an answer
} // namespace record_flag

/// To replicas: messages under their versions. Without a client `run.count` numbers are void.
struct record_message {
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
};

/// Leader to replicas: versions of messages that the client sends to the replicas itself.
struct versions_message {
  endpoint_id group;
  std::uint64_t epoch = 0, commit = 0;
  endpoint_id client;
  version_run run;

  static auto fields(auto& x) { return std::tie(x.group, x.epoch, x.commit, x.client, x.run); }
};

/// Client to replicas: messages to which `sequencer` gives versions.
struct tagged_message {
  endpoint_id group, client;
  std::uint64_t settled = 0, first = 0;
  endpoint_id sequencer;
  value_list values;

  static auto fields(auto& x) {
    return std::tie(x.group, x.client, x.settled, x.first, x.sequencer, x.values);
  }
};

/// Client to replicas: messages without a version.
struct plain_message {
  endpoint_id client;
  std::uint64_t first = 0;
  value_list values;

  static auto fields(auto& x) { return std::tie(x.client, x.first, x.values); }
};

/// Replica to a client: this replica holds these messages.
struct ack_message {
  endpoint_id replica;
  std::uint64_t epoch = 0;
  std::vector<version_run> runs;

  static auto fields(auto& x) { return std::tie(x.replica, x.epoch, x.runs); }
};

/// Leader to a client: all members hold these messages.
struct done_message {
  std::vector<version_run> runs;

  static auto fields(auto& x) { return std::tie(x.runs); }
};

/// Replica to the leader: it holds the leader's numbers up to `held`, and knows this list.
struct held_message {
  endpoint_id group, replica;
  std::uint64_t epoch = 0, config = 0, held = 0;

  static auto fields(auto& x) { return std::tie(x.group, x.replica, x.epoch, x.config, x.held); }
};

/// Leader to replicas: all members hold the numbers up to `commit`.
struct commit_message {
  endpoint_id group;
  std::uint64_t epoch = 0, commit = 0;

  static auto fields(auto& x) { return std::tie(x.group, x.epoch, x.commit); }
};

/// Replica to the leader: the numbers from `from` on are missing.
struct fetch_message {
  endpoint_id group, replica;
  std::uint64_t epoch = 0, from = 0;

  static auto fields(auto& x) { return std::tie(x.group, x.replica, x.epoch, x.from); }
};

/// Candidate to replicas: it wants to lead an epoch. `first_members`: those of a new group.
struct prepare_message {
  endpoint_id group, candidate;
  std::uint64_t epoch = 0;
  std::vector<endpoint_id> first_members;

  static auto fields(auto& x) { return std::tie(x.group, x.candidate, x.epoch, x.first_members); }
};

/// Replica to a candidate: it accepts nothing from earlier epochs any more, and this is the newest
/// list of members that it knows.
struct promise_message {
  endpoint_id group, replica;
  std::uint64_t epoch = 0, config_epoch = 0, config = 0;
  std::vector<endpoint_id> members;

  static auto fields(auto& x) {
    return std::tie(x.group, x.replica, x.epoch, x.config_epoch, x.config, x.members);
  }
};

/// Leader to replicas: an epoch begins. What they hold above `commit` must have the epochs of
/// `runs`; above `end` there is nothing. Runs of the new epoch itself are void.
struct start_message {
  endpoint_id group, leader;
  std::uint64_t group_size = 0, epoch = 0, config = 0;
  std::vector<endpoint_id> members;
  std::uint64_t commit = 0, end = 0;
  std::vector<epoch_run> runs;

  static auto fields(auto& x) {
    return std::tie(x.group, x.leader, x.group_size, x.epoch, x.config, x.members, x.commit, x.end,
                    x.runs);
  }
};

/// Leader to one replica: the state as of `at`, and what it takes to go on from there.
struct snapshot_message {
  endpoint_id group;
  std::uint64_t epoch = 0;
  message_version at;
  std::vector<client_progress> clients;
  value_list state; ///< one value

  static auto fields(auto& x) { return std::tie(x.group, x.epoch, x.at, x.clients, x.state); }
};

/// Leader to one replica: what it has fetched is in no history any more, and there is no snapshot.
struct gone_message {
  endpoint_id group;
  std::uint64_t epoch = 0, oldest = 0;

  static auto fields(auto& x) { return std::tie(x.group, x.epoch, x.oldest); }
};

/// Any of them. On the wire its kind is the place in this list, from 1 on: append only.
using group_message =
    std::variant<hello_message, status_message, submit_message, request_message, granted_message,
                 record_message, versions_message, tagged_message, plain_message, ack_message,
                 done_message, held_message, commit_message, fetch_message, prepare_message,
                 promise_message, start_message, snapshot_message, gone_message>;

void write_message(data_writer& out, const group_message& x);
/// Nothing if it is malformed. Spans are valid as long as the bytes of `value`.
std::optional<group_message> parse_message(const data_view& value);

/// Where replicas of a group publish their status, and clients say hello.
std::string topic_of_status(std::string_view group);
/// What all replicas of a group receive.
std::string topic_of_replicas(std::string_view group);
/// What one replica, one client receives.
std::string topic_of_replica(const endpoint_id& id);
std::string topic_of_client(const endpoint_id& id);

} // namespace pubsub::pattern
