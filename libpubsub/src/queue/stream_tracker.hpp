// Notices what is missing in the streams of distant publishers, and which of them start again.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <list>
#include <unordered_map>

#include "message/message_run.hpp"

namespace pubsub {

/// Knows the next number of each stream. The first number seen is where a stream begins: who
/// subscribes late has lost nothing. Remembers `max_streams` streams; the one not heard of for
/// longest goes, and begins anew if it comes back. A look-up for each run, none for the same stream
/// again. Not thread-safe: guarded by the queue's mutex.
class stream_tracker {
public:
  static constexpr std::size_t max_streams = 65'536;

  /// Messages of a stream have arrived, `messages` of them from `origin` on.
  void note(const run_origin& origin, std::uint32_t messages);
  /// Every stream begins anew with the next number seen.
  void forget() noexcept;

  /// Numbers left out, in streams of which every message should have come: those of one topic.
  std::uint64_t missed() const noexcept { return missed_; }
  /// How often a stream went on with a lower number than before.
  std::uint64_t restarts() const noexcept { return restarts_; }
  std::size_t streams() const noexcept { return by_name_.size(); }

private:
  struct name {
    endpoint_id endpoint;
    std::uint32_t stream = 0;
    friend bool operator==(const name&, const name&) = default;
  };
  struct name_hash {
    std::size_t operator()(const name& x) const noexcept {
      return std::hash<endpoint_id>{}(x.endpoint) ^ (x.stream * 0x9E37'79B9'7F4A'7C15ULL);
    }
  };
  struct stream {
    name id;
    std::uint64_t next = 0;
  };

  void add(const name& id, std::uint64_t next);

  std::list<stream> streams_; // the one heard of last in front
  std::unordered_map<name, std::list<stream>::iterator, name_hash> by_name_;
  std::uint64_t missed_ = 0;
  std::uint64_t restarts_ = 0;
};

} // namespace pubsub
