// What a replica answers to clients, collected until several messages were read. Pure.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "pattern/versioned/protocol/versioned_port.hpp"

namespace pubsub::pattern {

/// Not thread-safe.
class client_replies {
public:
  /// This replica holds the messages of the run.
  void acknowledge(const endpoint_id& client, const stamped_run& run) {
    if (!client.is_nil())
      acknowledged_[client].push_back(run);
  }
  /// All members hold them.
  void complete(const endpoint_id& client, const stamped_run& run) {
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
  using runs_of_clients = std::map<endpoint_id, std::vector<stamped_run>>;

  runs_of_clients acknowledged_;
  runs_of_clients completed_;
};

} // namespace pubsub::pattern
