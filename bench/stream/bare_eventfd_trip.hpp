// The limit of a round trip within a host: memory that two processes share, and two eventfds.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "stream/round_trip.hpp"

namespace pubsub::tool::bench {

/// Room for one message each way, and an eventfd for each way that says that there is one. Its
/// descriptors are numbers that another process may inherit.
class eventfd_pair {
public:
  /// Makes one. Throws std::system_error.
  explicit eventfd_pair(std::size_t message_bytes);
  /// Takes over what the parent process has made; `numbers` are its `numbers`. Throws
  /// std::system_error, and std::invalid_argument if they are not three.
  explicit eventfd_pair(const std::vector<int>& numbers);
  eventfd_pair(const eventfd_pair&) = delete;
  eventfd_pair& operator=(const eventfd_pair&) = delete;
  ~eventfd_pair();

  std::vector<int> numbers() const { return {memory_, request_, reply_}; }
  /// From now on programs that are started do not inherit it.
  void keep_to_this_process() noexcept;

  std::span<std::byte> request_room() const noexcept { return {mapped_, mapped_bytes_ / 2}; }
  std::span<std::byte> reply_room() const noexcept {
    return {mapped_ + mapped_bytes_ / 2, mapped_bytes_ / 2};
  }
  int request_fd() const noexcept { return request_; }
  int reply_fd() const noexcept { return reply_; }

private:
  void map();

  int memory_ = -1;
  int request_ = -1;
  int reply_ = -1;
  std::byte* mapped_ = nullptr;
  std::size_t mapped_bytes_ = 0;
};

/// A message is its number and the payload, always of the same length.
constexpr std::size_t numbered_bytes(std::size_t payload_bytes) {
  return sizeof(std::uint64_t) + payload_bytes;
}

/// Asks an `echo_events` at the other end of `shared`, which must outlive it.
std::unique_ptr<round_trip> make_eventfd_trip(const eventfd_pair& shared);

/// Sends back what comes, in a thread of its own.
class echo_events {
public:
  explicit echo_events(const eventfd_pair& shared);
  ~echo_events();

private:
  const eventfd_pair& shared_;
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

} // namespace pubsub::tool::bench
