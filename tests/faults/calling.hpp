// A client of a service, with threads that call and write down what they were told.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <fstream>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <pubsub/pattern/remote.hpp>

#include "command.hpp"
#include "planted.hpp"

namespace faults {

struct calling_options {
  std::string name; ///< what the client is called in all files
  pubsub::remote_options how;
  std::size_t instances = 1;      ///< it begins when it knows so many
  std::uint64_t per_second = 500; ///< operations, of each of its threads
  std::uint64_t seed = 1;         ///< of what is called, and how
};

/// Calls the operations of `serving`, one at a time, several and in bulk, and writes a line for
/// each call: `number operation begin end timeout told by`, with the time in microseconds of the
/// steady clock, `result`, `wrong` or the name of the error, and who did a `note`.
class calling {
public:
  calling(pubsub::endpoint& node, const std::string& service, const calling_options& options,
          const std::string& file, planted fault);
  ~calling();
  /// Calls no more once what was begun is complete.
  void stop() { stopping_ = true; }
  json_object report() const;

private:
  using clock = std::chrono::steady_clock;
  using dice = std::mt19937_64;
  enum class kind : std::uint8_t { echo, sum, note };
  struct one {
    std::uint64_t number = 0;
    kind operation = kind::echo;
    pubsub::data argument;
    std::chrono::nanoseconds timeout{0};
    clock::time_point begin{};
  };

  void run(std::uint64_t seed);
  one next(kind operation, dice& random);
  std::size_t call_one(dice& random);
  std::size_t submit_some(dice& random);
  std::size_t map_some(dice& random, bool in_bulk);
  void write(const one& call, const pubsub::expected<pubsub::data>& result, clock::time_point end);

  const calling_options options_;
  const planted fault_;
  pubsub::remote it_;
  std::atomic<std::uint64_t> numbers_{0};
  std::atomic<std::uint64_t> written_{0};
  std::atomic<bool> stopping_{false};
  std::atomic<std::size_t> running_{0};
  std::mutex mutex_; // guards out_
  std::ofstream out_;
  std::array<std::thread, 2> threads_;
};

} // namespace faults
