// SPDX-License-Identifier: BSD-3-Clause
#include "rules/rule_screen.hpp"

#include <algorithm>
#include <functional>

namespace pubsub::tool {

namespace {

std::string_view text_of(std::span<const std::byte> bytes) noexcept {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

} // namespace

// -- rule_screen ---------------------------------------------------------------------------------

rule_screen::rule_screen(std::vector<rule> rules, std::optional<mask_key> key)
    : rules_(std::move(rules)), key_(key), live_(std::make_unique<live_rule[]>(rules_.size())) {
  for (std::size_t i = 0; i < rules_.size(); ++i)
    if (rules_[i].action == rule_action::rate_limit)
      live_[i].limiter = std::make_unique<rate_limiter>(*rules_[i].text.rate_limit);
}

/// Where none of them is about the topic, there is nothing that announces columns for them either.
bool rule_screen::concerns(std::string_view topic) const noexcept {
  return std::ranges::any_of(rules_, [&](const rule& each) { return each.topics.matches(topic); });
}

/// What was announced before the rules changed is announced no more for a long time.
std::unique_ptr<message_screen::part> rule_screen::make_part(std::unique_ptr<part> before) const {
  message_fields known;
  if (auto* const same = dynamic_cast<rule_part*>(before.get()))
    known = same->take_fields();
  known.forget_questions();
  return std::make_unique<rule_part>(*this, std::move(known));
}

std::vector<rule_counters> rule_screen::counters() const {
  std::vector<rule_counters> result;
  for (std::size_t i = 0; i < rules_.size(); ++i) {
    const auto passed = live_[i].passed.load(std::memory_order_relaxed);
    const auto dropped = live_[i].dropped.load(std::memory_order_relaxed);
    result.push_back({.matched = passed + dropped, .passed = passed, .dropped = dropped});
  }
  return result;
}

// -- rule_part -----------------------------------------------------------------------------------

rule_part::rule_part(const rule_screen& screen, message_fields known)
    : screen_(screen), fields_(std::move(known)) {
  if (screen.key_)
    masker_.emplace(*screen.key_);
}

bool rule_part::passes(std::string_view topic, std::span<std::byte> value) noexcept {
  return passes(topic, value, std::chrono::steady_clock::now().time_since_epoch(), nullptr);
}

bool rule_part::passes(std::string_view topic, std::span<std::byte> value, rate_limiter::time now,
                       std::vector<std::size_t>* applied) {
  if (fields_.learn(topic, value))
    return true;
  for (std::size_t i = 0; i < screen_.rules_.size(); ++i) {
    const auto came = apply(i, topic, value, now);
    if (came == outcome::not_about_it)
      continue;
    if (applied != nullptr)
      applied->push_back(i);
    auto& live = screen_.live_[i];
    (came == outcome::passes ? live.passed : live.dropped).fetch_add(1, std::memory_order_relaxed);
    if (came == outcome::dropped)
      return false;
  }
  return true;
}

/// Other than a rule that masks, a rule is applied only if it is certain that the message matches.
rule_part::outcome rule_part::apply(std::size_t number, std::string_view topic,
                                    std::span<std::byte> value, rate_limiter::time now) {
  const auto& by = screen_.rules_[number];
  if (!by.topics.matches(topic))
    return outcome::not_about_it;
  const auto answer = by.match ? fields_.judge(*by.match, topic, value) : condition_verdict::yes;
  const bool certain = answer == condition_verdict::yes;
  const bool perhaps =
      answer == condition_verdict::unknown || answer == condition_verdict::unreadable;
  if (!certain && !(perhaps && by.action == rule_action::mask))
    return outcome::not_about_it;
  switch (by.action) {
  case rule_action::sample:
    return sample(by, topic, value);
  case rule_action::rate_limit:
    return limit(number, topic, value, now);
  case rule_action::mask:
    return mask(by, topic, value);
  case rule_action::drop:
    return outcome::dropped;
  case rule_action::publish:
    break;
  }
  return outcome::not_about_it;
}

rule_part::outcome rule_part::sample(const rule& by, std::string_view topic,
                                     std::span<const std::byte> value) {
  switch (fields_.judge(*by.sampled, topic, value)) {
  case condition_verdict::yes:
    return outcome::passes;
  case condition_verdict::no:
    return outcome::dropped;
  case condition_verdict::absent:
  case condition_verdict::unknown:
  case condition_verdict::unreadable:
    break;
  }
  return outcome::not_about_it;
}

/// Messages without the field count as if they had one value.
rule_part::outcome rule_part::limit(std::size_t number, std::string_view topic,
                                    std::span<const std::byte> value, rate_limiter::time now) {
  const auto& by = screen_.rules_[number];
  std::span<const std::byte> found;
  if (by.by && fields_.find(*by.by, topic, value, found) != condition_verdict::yes)
    found = {};
  const auto name = std::hash<std::string_view>{}(text_of(found));
  return screen_.live_[number].limiter->take(name, now) ? outcome::passes : outcome::dropped;
}

/// What cannot be masked for sure does not pass. Nothing to mask is in what has no such field.
rule_part::outcome rule_part::mask(const rule& by, std::string_view topic,
                                   std::span<std::byte> value) {
  bool any = false;
  for (const auto& field : by.masked) {
    std::span<const std::byte> found;
    const auto there = fields_.find(field, topic, value, found);
    if (there == condition_verdict::absent || there == condition_verdict::no)
      continue;
    if (there != condition_verdict::yes || !masker_)
      return outcome::dropped;
    const auto at = static_cast<std::size_t>(found.data() - value.data());
    if (!masker_->mask(value.subspan(at, found.size())))
      return outcome::dropped;
    any = true;
  }
  return any ? outcome::passes : outcome::not_about_it;
}

} // namespace pubsub::tool
