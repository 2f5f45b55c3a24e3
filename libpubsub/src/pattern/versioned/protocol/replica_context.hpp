// What the parts of a replica have in common. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <pubsub/pattern/versioned_options.hpp>

#include "pattern/versioned/protocol/replica_directory.hpp"
#include "pattern/versioned/protocol/replica_log.hpp"
#include "pattern/versioned/protocol/versioned_port.hpp"

namespace pubsub::pattern {

/// What a replica answers to clients, collected until several messages were read.
class client_replies {
public:
  /// This replica holds the messages of the run.
  void acknowledge(const endpoint_id& client, const version_run& run) {
    if (!client.is_nil())
      acknowledged_[client].push_back(run);
  }
  /// All members hold them.
  void complete(const endpoint_id& client, const version_run& run) {
    if (!client.is_nil())
      completed_[client].push_back(run);
  }
  /// An epoch begins: acknowledgements of the one before say nothing any more.
  void begin_epoch() { acknowledged_.clear(); }

  void send(versioned_port& port, const endpoint_id& replica, std::uint64_t epoch) {
    for (auto& [client, runs] : std::exchange(acknowledged_, {}))
      port.to_client(client, ack_message{replica, epoch, std::move(runs)});
    for (auto& [client, runs] : std::exchange(completed_, {}))
      port.to_client(client, done_message{std::move(runs)});
  }

private:
  using runs_of_clients = std::map<endpoint_id, std::vector<version_run>>;

  runs_of_clients acknowledged_;
  runs_of_clients completed_;
};

/// A replica as all its parts see it: who it is, how it sends, what it holds, and what it has heard
/// of others. Its epoch is that of `epoch_agreement`.
struct replica_context {
  replica_context(const endpoint_id& of, std::string called, const replica_options& with,
                  versioned_port& to)
      : id(of), name(std::move(called)), options(with), port(to),
        log(with.history_messages, with.history_bytes), others(of, with.liveness_timeout) {}

  const endpoint_id id;
  const std::string name;
  const replica_options options;
  versioned_port& port;
  replica_log log;
  replica_directory others;
  client_replies replies;
  replica_counters counters;
};

} // namespace pubsub::pattern
