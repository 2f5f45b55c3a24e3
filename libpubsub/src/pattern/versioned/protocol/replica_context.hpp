// What the parts of a replica have in common. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "pattern/versioned/protocol/replica_directory.hpp"
#include "pattern/versioned/protocol/replica_log.hpp"

namespace pubsub::pattern {

enum class replica_role : std::uint8_t { follower, candidate, leader };

/// What a replica knows of its group.
struct epoch_state {
  endpoint_id group;          ///< nil: none yet
  std::uint64_t promised = 0; ///< messages of earlier epochs are refused
  std::uint64_t number = 0;   ///< the last epoch that has begun here
  endpoint_id leader;         ///< of that epoch
  replica_role role = replica_role::follower;
  member_list list;          ///< the newest that is known
  std::uint64_t decided = 0; ///< the newest list of the epoch that is known to be in force

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

/// What a replica says to clients, collected until several messages were read.
class client_replies {
public:
  void add(const endpoint_id& client, reply what, const version_run& run) {
    if (!client.is_nil())
      waiting_[{client, what}].push_back(run);
  }
  /// What was true in the epoch before says nothing any more, unless all members hold it.
  void begin_epoch() {
    std::erase_if(waiting_, [](const auto& x) { return x.first.second != reply::held_by_all; });
  }
  void send(versioned_port& port, const endpoint_id& replica, std::uint64_t epoch) {
    for (auto& [to, runs] : std::exchange(waiting_, {}))
      port.to_client(to.first, reply_message{replica, epoch, static_cast<std::uint64_t>(to.second),
                                             std::move(runs)});
  }

private:
  std::map<std::pair<endpoint_id, reply>, std::vector<version_run>> waiting_;
};

/// A replica as all its parts see it: who it is, how it sends, which epoch it lives in, what it
/// holds, and what it has heard of others.
struct replica_context {
  replica_context(const endpoint_id& of, std::string called, const replica_options& with,
                  versioned_port& to)
      : id(of), name(std::move(called)), options(with), port(to),
        log(with.history_messages, with.history_bytes), others(of, with.liveness_timeout) {}

  bool is_member() const { return contains(epoch.list.members, id); }

  const endpoint_id id;
  const std::string name;
  const replica_options options;
  versioned_port& port;
  epoch_state epoch;
  time_point leader_heard{};
  replica_log log;
  replica_directory others;
  client_replies replies;
  replica_counters counters;
};

} // namespace pubsub::pattern
