// SPDX-License-Identifier: BSD-3-Clause
#include "pattern/mailbox/partner.hpp"

#include "pattern/mailbox/tuning.hpp"

namespace pubsub::pattern {

partner::outcome partner::send(std::span<const std::byte> message,
                               std::chrono::nanoseconds timeout) {
  switch (to_.publish_for(message, timeout)) {
  case publish_result::taken:
  case publish_result::dropped:
    seen_ = true;
    return outcome::sent;
  case publish_result::would_block:
    return outcome::full;
  case publish_result::refused: {
    const auto before = std::exchange(refused_, to_.counters().refused_size);
    return refused_ > before ? outcome::too_long : outcome::out_of_reach;
  }
  case publish_result::unwanted:
    break;
  }
  return outcome::out_of_reach;
}

void partner::look(time now) {
  if (to_.subscribers() > 0) {
    seen_ = true;
    out_since_.reset();
  } else if (!out_since_) {
    out_since_ = now;
  }
}

bool partner::is_gone(time now) const noexcept {
  return seen_ && out_since_ && now - *out_since_ >= tuning::time_for_last_words;
}

bool partner::is_forgotten(time now) const noexcept {
  return out_since_ && now - *out_since_ >= tuning::memory_of_partners;
}

partner& partner_map::operator[](const endpoint_id& id) {
  auto found = all_.find(id);
  if (found == all_.end())
    found = all_.emplace(id, partner{at_->make_publisher(topic_(id))}).first;
  return found->second;
}

std::vector<endpoint_id> partner_map::find(time now, bool (partner::*wanted)(time) const noexcept) {
  std::vector<endpoint_id> result;
  for (auto& [id, each] : all_) {
    each.look(now);
    if ((each.*wanted)(now))
      result.push_back(id);
  }
  return result;
}

} // namespace pubsub::pattern
