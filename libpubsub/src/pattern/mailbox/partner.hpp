// Another part of a pattern, as a publisher to it: how messages reach it, and whether it is gone.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <pubsub/endpoint.hpp>
#include <pubsub/publisher.hpp>
#include <pubsub/value/endpoint_id.hpp>

#include "pattern/mailbox/pattern_topic.hpp"

namespace pubsub::pattern {

/// The one definition of *gone*: a partner that was within reach, and has been out of reach for
/// `tuning::time_for_last_words`; others get its work. After `tuning::memory_of_partners` out of
/// reach, or never within, it is *forgotten*: nothing is kept for it. Not thread-safe.
class partner {
public:
  using time = std::chrono::steady_clock::time_point;

  explicit partner(publisher to) : to_(std::move(to)) {}

  enum class outcome : std::uint8_t {
    sent,
    full,         ///< there is no room now
    too_long,     ///< for any link
    out_of_reach, ///< or the endpoint is closed
  };
  /// Does not block without a timeout.
  outcome send(std::span<const std::byte> message,
               std::chrono::nanoseconds timeout = std::chrono::nanoseconds{0});

  /// From time to time: what the following say is as of the last look.
  void look(time now);
  bool is_within_reach() const noexcept { return !out_since_; }
  bool is_gone(time now) const noexcept;
  bool is_forgotten(time now) const noexcept;

private:
  publisher to_;
  bool seen_ = false;         // it was within reach
  std::uint64_t refused_ = 0; // messages that were too long
  std::optional<time> out_since_;
};

/// Partners of one kind, by their id. Not thread-safe.
class partner_map {
public:
  using time = partner::time;

  /// `topic` makes the topic that the partner of an id listens to.
  partner_map(std::shared_ptr<endpoint> at, topic_kind topic) : at_(std::move(at)), topic_(topic) {}

  /// Made when it is first asked for.
  partner& operator[](const endpoint_id& id);
  void erase(const endpoint_id& id) { all_.erase(id); }
  /// Looks at all; those that are gone are the caller's to erase.
  std::vector<endpoint_id> find_gone(time now) { return find(now, &partner::is_gone); }
  /// The same for those that are forgotten.
  std::vector<endpoint_id> find_forgotten(time now) { return find(now, &partner::is_forgotten); }

private:
  std::vector<endpoint_id> find(time now, bool (partner::*wanted)(time) const noexcept);

  std::shared_ptr<endpoint> at_;
  topic_kind topic_;
  std::map<endpoint_id, partner> all_;
};

} // namespace pubsub::pattern
