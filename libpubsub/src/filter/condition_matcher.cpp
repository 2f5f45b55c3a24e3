// SPDX-License-Identifier: BSD-3-Clause
#include <pubsub/condition_matcher.hpp>

#include "filter/message_selector.hpp"

#include <utility>

namespace pubsub {

condition_matcher::condition_matcher(condition what)
    : state_(std::make_unique<message_selector>(std::move(what))) {}
condition_matcher::condition_matcher(condition_matcher&&) noexcept = default;
condition_matcher& condition_matcher::operator=(condition_matcher&&) noexcept = default;
condition_matcher::~condition_matcher() = default;

bool condition_matcher::wants(std::string_view topic, std::span<const std::byte> value) {
  return state_->wants(topic, value);
}

condition_verdict condition_matcher::judge(std::string_view topic,
                                           std::span<const std::byte> value) {
  return state_->judge(topic, value);
}

} // namespace pubsub
