// Who may speak for a part of a pattern.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>
#include <unordered_map>
#include <utility>

#include <pubsub/data_message.hpp>
#include <pubsub/value/endpoint_id.hpp>

#include "pattern/mailbox/tuning.hpp"

namespace pubsub::pattern {

/// A part lives at one endpoint, and has a random id. So its messages are those that come from the
/// endpoint of the first one that tells it; what others send in its name is passed over. (Messages
/// of Broker peers tell no endpoint: they count as long as none is known.) Not thread-safe.
class speakers {
public:
  using time = std::chrono::steady_clock::time_point;

  /// Whether the part has sent the message, which is in its name.
  bool is_own_word(const endpoint_id& part, const data_message& msg, time now) {
    const auto from = get_publishing_endpoint(msg).value_or(endpoint_id{});
    auto found = all_.find(part);
    if (found == all_.end()) {
      if (all_.size() >= tuning::most_parts || parts_of_[from] >= tuning::most_parts_of_endpoint)
        forget_silent(now);
      if (all_.size() >= tuning::most_parts || parts_of_[from] >= tuning::most_parts_of_endpoint)
        return false;
      found = all_.emplace(part, speaker{from, now}).first;
      ++parts_of_[from];
    }
    auto& its = found->second;
    if (its.from.is_nil() && !from.is_nil()) {
      --parts_of_[std::exchange(its.from, from)];
      ++parts_of_[from];
    }
    const bool own = its.from == from;
    if (own)
      its.heard = now;
    return own;
  }

private:
  struct speaker {
    endpoint_id from;
    time heard;
  };

  void forget_silent(time now) {
    std::erase_if(all_, [&](const auto& each) {
      const bool silent = now - each.second.heard > tuning::memory_of_partners;
      if (silent)
        --parts_of_[each.second.from];
      return silent;
    });
    std::erase_if(parts_of_, [](const auto& each) { return each.second == 0; });
  }

  std::unordered_map<endpoint_id, speaker> all_;
  std::unordered_map<endpoint_id, std::size_t> parts_of_;
};

} // namespace pubsub::pattern
