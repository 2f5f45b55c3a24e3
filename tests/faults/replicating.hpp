// A replica and a client of versioned delivery, each with a thread that writes down what it sees.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>
#include <fstream>
#include <string>
#include <thread>

#include <pubsub/pattern/versioned.hpp>

#include "command.hpp"

namespace faults {

/// Writes `number epoch client client_number` of every message into a file.
class replicating {
public:
  replicating(pubsub::endpoint& node, const std::string& group,
              const pubsub::replica_options& options, const std::string& file);
  ~replicating();
  json_object report() const;

private:
  void run();

  pubsub::replica it_;
  std::ofstream out_;
  std::thread thread_;
};

/// Posts counts, as many as it is allowed to, and writes `number epoch client client_number` of
/// every acknowledgement.
class sending {
public:
  sending(pubsub::endpoint& node, const std::string& group,
          const pubsub::versioned_group_options& options, const std::string& file);
  ~sending();
  /// So many more may be posted.
  void allow(std::uint64_t messages);
  /// Posts no more; what is in flight goes on.
  void stop();
  json_object report() const;

private:
  void post();
  void collect();

  pubsub::versioned_group it_;
  std::ofstream out_;
  std::atomic<bool> stopping_{false};
  std::atomic<std::uint64_t> allowed_{0};
  std::atomic<std::uint64_t> written_{0};
  std::thread poster_;
  std::thread collector_;
};

} // namespace faults
