// A thread that publishes numbered messages, as fast as it may, and counts what became of them.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <pubsub/data_writer.hpp>
#include <pubsub/endpoint.hpp>

#include "command.hpp"

namespace faults {

struct publishing_options {
  std::uint64_t publisher = 0;  ///< goes into every message; unique over all nodes of a run
  std::string topic;            ///< with `topics` > 1, a number is appended
  std::size_t topics = 1;       ///< taken in turn
  std::uint64_t messages = 0;   ///< over all topics; 0: until stopped
  std::uint64_t per_second = 0; ///< 0: as fast as the library takes them
  std::size_t min_bytes = 20;   ///< of the payload
  std::size_t max_bytes = 200;
  pubsub::endpoint_id to{}; ///< the only receiver; nil: all subscribers
};

/// Publishes until told to stop. `start` and `stop` can be repeated; numbers go on where they
/// ended.
class publishing {
public:
  publishing(pubsub::endpoint& node, publishing_options options);
  ~publishing() { stop(); }

  /// `messages` more, or without end if 0.
  void start(std::uint64_t messages);
  /// Returns once the thread has ended. A message that waited for room is given up: it was not
  /// published, and its number is the next one's.
  void stop();
  /// What was published so far, by topic.
  json_object report() const;

private:
  struct counted_topic {
    explicit counted_topic(pubsub::publisher handle) : out(std::move(handle)) {}
    pubsub::publisher out;
    std::atomic<std::uint64_t> published{0};
    std::atomic<std::uint64_t> unwanted{0};
  };

  void run(std::uint64_t messages);
  bool publish_on(counted_topic& each);
  pubsub::publish_result offer(counted_topic& each);

  pubsub::endpoint& node_;
  const publishing_options options_;
  std::vector<std::unique_ptr<counted_topic>> topics_;
  std::size_t turn_ = 0;
  pubsub::data_writer writer_;
  std::atomic<bool> stopping_{false};
  std::atomic<bool> running_{false};
  std::atomic<bool> refused_{false};
  std::thread thread_;
};

} // namespace faults
