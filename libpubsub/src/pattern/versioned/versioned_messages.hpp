// What replicas and clients of a group say to each other, as values in bin::v1. Pure: values in,
// values out. Each message names its fields once, for writing and reading.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <pubsub/data_view.hpp>
#include <pubsub/data_writer.hpp>
#include <pubsub/endpoint_id.hpp>
#include <pubsub/pattern/versioned_options.hpp>

namespace pubsub::pattern {

/// Values one behind the other; a vector on the wire.
struct value_list {
  std::uint64_t count = 0;
  std::span<const std::byte> bytes;
};

/// Numbers from `first` on, up to the next run, have this epoch.
struct epoch_run {
  std::uint64_t first = 0;
  std::uint64_t epoch = 0;

  friend bool operator==(const epoch_run&, const epoch_run&) = default;
};

/// Messages of a client, from `client_first` on, have versions from `at` on.
struct stamped_run {
  std::uint64_t client_first = 0;
  std::uint64_t count = 0;
  message_version at;
  std::uint64_t config = 0; ///< of the members when they were stamped

  friend bool operator==(const stamped_run&, const stamped_run&) = default;
};

/// How far a client is: what the sequencer needs to know of its past.
struct client_progress {
  endpoint_id client;
  std::uint64_t next = 0;
  std::vector<stamped_run> recent;
};

/// A client asks replicas of a name who they are.
struct hello_message {
  static constexpr std::uint64_t kind = 1;
  endpoint_id client;

  static auto fields(auto& x) { return std::tie(x.client); }
};

/// What a replica tells everybody from time to time, and when it changes.
struct status_message {
  static constexpr std::uint64_t kind = 2;
  endpoint_id group; ///< nil: it belongs to none yet
  endpoint_id replica;
  std::string name;
  std::uint64_t group_size = 0;
  std::uint64_t age_ms = 0;
  std::uint64_t promised = 0; ///< it takes nothing from epochs below
  std::uint64_t epoch = 0;
  bool leads = false; ///< and may stamp
  bool counts = false;
  std::uint64_t held = 0; ///< of the leader: the last number it has given
  std::uint64_t commit = 0;
  std::uint64_t config = 0;
  std::uint64_t decided = 0;        ///< the newest config that holds
  std::uint64_t live = 0;           ///< members that were heard
  std::vector<endpoint_id> members; ///< of the config; only from the leader

  static auto fields(auto& x) {
    return std::tie(x.group, x.replica, x.name, x.group_size, x.age_ms, x.promised, x.epoch,
                    x.leads, x.counts, x.held, x.commit, x.config, x.decided, x.live, x.members);
  }
};

/// To the leader: stamp these. `settled`: the client waits for none of its messages below.
struct submit_message {
  static constexpr std::uint64_t kind = 3;
  endpoint_id group;
  endpoint_id client;
  std::uint64_t settled = 0;
  std::uint64_t first = 0;
  std::uint64_t scheme = 0;
  value_list values;

  static auto fields(auto& x) {
    return std::tie(x.group, x.client, x.settled, x.first, x.scheme, x.values);
  }
};

/// To the leader: versions for messages that are to come.
struct request_message {
  static constexpr std::uint64_t kind = 4;
  endpoint_id group;
  endpoint_id client;
  std::uint64_t settled = 0;
  std::uint64_t first = 0;
  std::uint64_t count = 0;

  static auto fields(auto& x) { return std::tie(x.group, x.client, x.settled, x.first, x.count); }
};

/// To a client: the versions of its messages. `holds`: the leader has the messages.
struct granted_message {
  static constexpr std::uint64_t kind = 5;
  endpoint_id replica;
  std::uint64_t epoch = 0;
  bool holds = false;
  std::vector<stamped_run> runs;

  static auto fields(auto& x) { return std::tie(x.replica, x.epoch, x.holds, x.runs); }
};

/// Who wants to hear of a record.
enum class record_wish : std::uint64_t {
  nothing = 0,
  ack_client = 1,  ///< each replica tells the client
  ack_leader = 2,  ///< each replica tells the leader at once
  from_client = 4, ///< it was sent by the client
  repeated = 8,    ///< somebody has asked for it
  last = 16,       ///< of those
};
inline bool has(std::uint64_t wishes, record_wish x) {
  return (wishes & static_cast<std::uint64_t>(x)) != 0;
}

/// To replicas: messages under their versions. No client: void, `count` numbers.
struct record_message {
  static constexpr std::uint64_t kind = 6;
  endpoint_id group;
  std::uint64_t epoch = 0; ///< that the sender lives in
  std::uint64_t commit = 0;
  std::uint64_t wishes = 0;
  endpoint_id client;
  stamped_run run;
  value_list values;

  static auto fields(auto& x) {
    return std::tie(x.group, x.epoch, x.commit, x.wishes, x.client, x.run, x.values);
  }
};

/// To replicas: versions of messages that the client sends them itself.
struct stamp_message {
  static constexpr std::uint64_t kind = 7;
  endpoint_id group;
  std::uint64_t epoch = 0;
  std::uint64_t commit = 0;
  endpoint_id client;
  stamped_run run;

  static auto fields(auto& x) { return std::tie(x.group, x.epoch, x.commit, x.client, x.run); }
};

/// To replicas: messages that `stamper` is to stamp.
struct tagged_message {
  static constexpr std::uint64_t kind = 8;
  endpoint_id group;
  endpoint_id client;
  std::uint64_t settled = 0;
  std::uint64_t first = 0;
  endpoint_id stamper;
  value_list values;

  static auto fields(auto& x) {
    return std::tie(x.group, x.client, x.settled, x.first, x.stamper, x.values);
  }
};

/// To replicas: messages without a version.
struct plain_message {
  static constexpr std::uint64_t kind = 9;
  endpoint_id client;
  std::uint64_t first = 0;
  value_list values;

  static auto fields(auto& x) { return std::tie(x.client, x.first, x.values); }
};

/// To a client: this replica holds these.
struct ack_message {
  static constexpr std::uint64_t kind = 10;
  endpoint_id replica;
  std::uint64_t epoch = 0;
  std::vector<stamped_run> runs;

  static auto fields(auto& x) { return std::tie(x.replica, x.epoch, x.runs); }
};

/// To a client: all that count hold these.
struct done_message {
  static constexpr std::uint64_t kind = 11;
  std::vector<stamped_run> runs;

  static auto fields(auto& x) { return std::tie(x.runs); }
};

/// To the leader: numbers up to `held` are here as it has given them, and this config is known.
struct held_message {
  static constexpr std::uint64_t kind = 12;
  endpoint_id group;
  endpoint_id replica;
  std::uint64_t epoch = 0;
  std::uint64_t config = 0;
  std::uint64_t held = 0;

  static auto fields(auto& x) { return std::tie(x.group, x.replica, x.epoch, x.config, x.held); }
};

/// To replicas: all that count hold numbers up to `commit`.
struct commit_message {
  static constexpr std::uint64_t kind = 13;
  endpoint_id group;
  std::uint64_t epoch = 0;
  std::uint64_t commit = 0;

  static auto fields(auto& x) { return std::tie(x.group, x.epoch, x.commit); }
};

/// To the leader: numbers from `from` on are missing.
struct fetch_message {
  static constexpr std::uint64_t kind = 14;
  endpoint_id group;
  endpoint_id replica;
  std::uint64_t epoch = 0;
  std::uint64_t from = 0;

  static auto fields(auto& x) { return std::tie(x.group, x.replica, x.epoch, x.from); }
};

/// To replicas: somebody wants to lead an epoch; of a new group, with these members.
struct prepare_message {
  static constexpr std::uint64_t kind = 15;
  endpoint_id group;
  endpoint_id candidate;
  std::uint64_t epoch = 0;
  std::vector<endpoint_id> first_members; ///< of a new group

  static auto fields(auto& x) { return std::tie(x.group, x.candidate, x.epoch, x.first_members); }
};

/// To a candidate: nothing is taken from earlier epochs any more, and this is the newest config
/// that was.
struct promise_message {
  static constexpr std::uint64_t kind = 16;
  endpoint_id group;
  endpoint_id replica;
  std::uint64_t epoch = 0;
  std::uint64_t config_epoch = 0;
  std::uint64_t config = 0;
  std::vector<endpoint_id> members;

  static auto fields(auto& x) {
    return std::tie(x.group, x.replica, x.epoch, x.config_epoch, x.config, x.members);
  }
};

/// To replicas: an epoch begins. What they have above `commit` must have these epochs; above `end`
/// there is nothing. Runs of the epoch itself are void.
struct start_message {
  static constexpr std::uint64_t kind = 17;
  endpoint_id group;
  endpoint_id leader;
  std::uint64_t group_size = 0;
  std::uint64_t epoch = 0;
  std::uint64_t config = 0;
  std::vector<endpoint_id> members;
  std::uint64_t commit = 0;
  std::uint64_t end = 0;
  std::vector<epoch_run> runs;

  static auto fields(auto& x) {
    return std::tie(x.group, x.leader, x.group_size, x.epoch, x.config, x.members, x.commit, x.end,
                    x.runs);
  }
};

/// To one replica: the state after `at`, and what it needs to go on from there.
struct snapshot_message {
  static constexpr std::uint64_t kind = 18;
  endpoint_id group;
  std::uint64_t epoch = 0;
  message_version at;
  std::vector<client_progress> clients;
  value_list state; ///< one

  static auto fields(auto& x) { return std::tie(x.group, x.epoch, x.at, x.clients, x.state); }
};

/// To one replica: what it asked for is in no history any more, and nobody gives a snapshot.
struct gone_message {
  static constexpr std::uint64_t kind = 19;
  endpoint_id group;
  std::uint64_t epoch = 0;
  std::uint64_t oldest = 0;

  static auto fields(auto& x) { return std::tie(x.group, x.epoch, x.oldest); }
};

/// The kind of a message; 0 if none of ours.
std::uint64_t versioned_kind(const data_view& value) noexcept;

/// Whole values.
template <class Message>
void write_message(data_writer& out, const Message& x);
/// Nothing if malformed. Spans are valid as long as the bytes of `value`.
template <class Message>
std::optional<Message> parse_message(const data_view& value);

// -- topics --------------------------------------------------------------------------------------

/// Where replicas of a group tell how they are, and clients ask.
std::string topic_of_status(std::string_view group);
/// What all replicas of a group hear.
std::string topic_of_replicas(std::string_view group);
/// What one replica, one client hears.
std::string topic_of_replica(const endpoint_id& id);
std::string topic_of_client(const endpoint_id& id);

} // namespace pubsub::pattern
