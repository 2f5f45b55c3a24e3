// Applies a condition to messages that come from elsewhere than a subscriber.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

#include <pubsub/condition.hpp>
#include <pubsub/export.hpp>

namespace pubsub {

class message_selector;

/// Decides which messages of a sequence fulfil a condition, as a subscriber with that condition
/// does: it learns the columns of logs from the events `log_fields` among them, which pass where
/// the condition names columns. Not thread-safe.
class PUBSUB_EXPORT condition_matcher {
public:
  explicit condition_matcher(condition what);
  condition_matcher(condition_matcher&&) noexcept;
  condition_matcher& operator=(condition_matcher&&) noexcept;
  ~condition_matcher();

  /// Whether the next message passes: its topic, and its value in bin::v1, of which nothing needs
  /// to have been checked.
  bool wants(std::string_view topic, std::span<const std::byte> value);
  /// The answer of the next message, in place of `wants`: what only passes, such as the event
  /// `log_fields`, does not answer `yes` for that.
  condition_verdict judge(std::string_view topic, std::span<const std::byte> value);

private:
  std::unique_ptr<message_selector> state_;
};

} // namespace pubsub
