// Readers that are connected to a proxy, what they subscribe to, and which of them do not read.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cluster/event_frames.hpp"
#include "cluster/patience.hpp"

namespace pubsub::cluster {

/// Connections of a socket are told apart by their file descriptors, which libzmq says and which
/// are only ever asked, not used. Not thread-safe.
class proxy_readers {
public:
  /// What is asked of a connection. Both may be asked of a descriptor that was closed just now.
  struct system {
    std::function<std::string(int fd)> address; ///< empty: there is none
    /// Bytes that the other side has not taken.
    std::function<int(int fd)> waiting_bytes;
  };
  static system real_system();

  using clock = patience::clock;

  /// `patience`: with each reader.
  explicit proxy_readers(std::chrono::nanoseconds patience, system os = real_system())
      : most_patience_(patience), os_(std::move(os)) {}

  void connected(int fd, clock::time_point now);
  void lost(int fd);
  void note(int fd, const subscription& what, clock::time_point now);

  // While a message on this topic finds no room at some reader, and nothing is sent. One that reads
  // takes data, so that the number of bytes that wait for it changes, until there are none:
  void begin_waiting(std::string_view topic, clock::time_point now);
  /// Whether to wait on: a reader reads, or there is patience with one.
  bool deserve_more(clock::time_point now);
  /// Those that have not read are slow from now on, and lose this message.
  void end_waiting(clock::time_point now);
  /// Counts a message for each of those that are slow and would have got it.
  void count_dropped(std::string_view topic);
  /// Those that have taken most of what waited then are slow no more.
  void look_again();

  std::uint64_t size() const noexcept { return all_.size(); }
  std::uint64_t subscriptions() const noexcept { return subscriptions_; }
  std::uint64_t slow() const noexcept { return slow_; }
  std::uint64_t times_slow() const noexcept { return times_slow_; }
  std::uint64_t dropped() const noexcept { return dropped_; }

private:
  struct reader {
    std::string address;
    std::set<std::string, std::less<>> prefixes;
    patience with_it;
    bool accepted = false; // its connection; else it is known by a subscription only
    // Of the present, or the last, waiting:
    int waiting_bytes = 0;
    clock::time_point changed{};
    int slow_bytes = 0;        // that waited when it became slow; 0: it is not slow
    std::uint64_t dropped = 0; // since then
  };

  reader& add(int fd, clock::time_point now);
  static bool is_subscribed(const reader& who, std::string_view topic);
  static std::string name_of(const reader& who);
  void recovered(reader& who, const std::string& how);

  std::chrono::nanoseconds most_patience_;
  system os_;
  std::map<int, reader> all_; // by file descriptor
  clock::time_point waiting_since_{};
  std::vector<std::pair<int, reader*>> waited_for_; // those that are to get the message
  std::uint64_t subscriptions_ = 0;
  std::uint64_t slow_ = 0;
  std::uint64_t times_slow_ = 0;
  std::uint64_t dropped_ = 0;
};

} // namespace pubsub::cluster
