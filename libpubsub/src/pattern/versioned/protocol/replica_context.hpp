// What the parts of a replica have in common. Pure.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "pattern/versioned/protocol/replica_directory.hpp"
#include "pattern/versioned/protocol/replica_log.hpp"

namespace pubsub::pattern {

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
