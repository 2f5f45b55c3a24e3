// Applies rules to the messages that peers send to a node.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include <pubsub/message_screen.hpp>

#include "rules/mask.hpp"
#include "rules/rate_limiter.hpp"
#include "rules/rule.hpp"

namespace pubsub::tool {

/// Of one rule. `matched` are messages that it was applied to: each has passed or was dropped.
struct rule_counters {
  std::uint64_t matched = 0;
  std::uint64_t passed = 0;
  std::uint64_t dropped = 0;
};

/// The rules other than those that publish. Each is applied to what those before it let pass. What
/// announces the columns of a log passes all of them. Const members may be called concurrently.
class rule_screen final : public message_screen {
public:
  /// `key`: needed where a rule masks.
  explicit rule_screen(std::vector<rule> rules, std::optional<mask_key> key = {});

  bool concerns(std::string_view topic) const noexcept override;
  std::unique_ptr<part> make_part(std::unique_ptr<part> before) const override;

  const std::vector<rule>& rules() const noexcept { return rules_; }
  /// One for each rule.
  std::vector<rule_counters> counters() const;

private:
  friend class rule_part;
  struct live_rule {
    std::atomic<std::uint64_t> passed{0};
    std::atomic<std::uint64_t> dropped{0};
    std::unique_ptr<rate_limiter> limiter;
  };

  const std::vector<rule> rules_;
  const std::optional<mask_key> key_;
  const std::unique_ptr<live_rule[]> live_; // one for each rule
};

/// The messages of one source in their order. The screen outlives it, or the part that is made of
/// it.
class rule_part final : public message_screen::part {
public:
  rule_part(const rule_screen& screen, message_fields known);

  bool passes(std::string_view topic, std::span<std::byte> value) noexcept override;
  /// The same at this time, which rate limits need. `applied` says which rules were applied.
  bool passes(std::string_view topic, std::span<std::byte> value, rate_limiter::time now,
              std::vector<std::size_t>* applied);
  /// What has been announced; the part must not be used any more.
  message_fields take_fields() noexcept { return std::move(fields_); }

private:
  enum class outcome : std::uint8_t { not_about_it, passes, dropped };

  outcome apply(std::size_t number, std::string_view topic, std::span<std::byte> value,
                rate_limiter::time now);
  outcome sample(const rule& by, std::string_view topic, std::span<const std::byte> value);
  outcome limit(std::size_t number, std::string_view topic, std::span<const std::byte> value,
                rate_limiter::time now);
  outcome mask(const rule& by, std::string_view topic, std::span<std::byte> value);

  const rule_screen& screen_;
  message_fields fields_;
  std::optional<masker> masker_;
};

} // namespace pubsub::tool
