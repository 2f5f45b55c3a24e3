// SPDX-License-Identifier: BSD-3-Clause
#include "rules/rule.hpp"

#include "where_options.hpp"

#include <cmath>

#include <fmt/format.h>

namespace pubsub::tool {

namespace {

error wrong(std::string what) {
  return {errc::invalid_argument, std::move(what)};
}

std::vector<record_column> columns_of(const rule_text& text) {
  std::vector<record_column> result;
  for (const auto& each : text.columns) {
    const auto colon = each.find(':');
    result.push_back({each.substr(0, colon),
                      colon == std::string::npos ? std::string{} : each.substr(colon + 1)});
  }
  return result;
}

expected<condition> read_condition(const std::string& key, const std::string& text,
                                   const rule_text& from) {
  condition_options options;
  options.regex = regular_expressions();
  options.columns = columns_of(from);
  auto made = condition::make(text, options);
  if (!made)
    return error{made.error().code(), key + ": " + made.error().context()};
  return made;
}

expected<message_field> read_field(const std::string& key, const std::string& text,
                                   const rule_text& from) {
  auto made = message_field::make(text, columns_of(from));
  if (!made)
    return error{made.error().code(), key + ": " + made.error().context()};
  return made;
}

error read_publish(rule& to) {
  const auto& target = *to.text.publish;
  if (target.empty())
    return wrong("publish: a topic is expected");
  if (to.topics.matches(target))
    return wrong(fmt::format("publish: '{}' is among the topics of the rule: its copies would be "
                             "copied again",
                             target));
  return {};
}

/// Messages without the field are in no sample, and pass.
error read_sample(rule& to) {
  constexpr std::uint64_t most = 1'000'000'000;
  const auto of = *to.text.sample;
  if (of < 1 || of > most)
    return wrong("sample: a number from 1 to 1000000000 is expected");
  auto what = fmt::format("1 in {}", of);
  if (!to.text.by.empty()) {
    auto by = read_field("by", to.text.by, to.text);
    if (!by)
      return by.error();
    what += " by " + by->text();
  }
  auto sampled = read_condition("sample", what, to.text);
  if (!sampled)
    return sampled.error();
  to.sampled = std::move(*sampled);
  return {};
}

error read_rate_limit(rule& to) {
  const auto limit = *to.text.rate_limit;
  if (!std::isfinite(limit) || limit <= 0 || limit > 1e9)
    return wrong("rate_limit: a number of messages a second is expected, from above 0 to 1e9");
  if (to.text.by.empty())
    return {};
  auto by = read_field("by", to.text.by, to.text);
  if (!by)
    return by.error();
  to.by = std::move(*by);
  return {};
}

error read_mask(rule& to) {
  for (const auto& each : to.text.mask) {
    auto field = read_field("mask", each, to.text);
    if (!field)
      return field.error();
    to.masked.push_back(std::move(*field));
  }
  return {};
}

error read_action(rule& to) {
  const auto& text = to.text;
  const int given = static_cast<int>(text.publish.has_value()) + static_cast<int>(text.drop) +
                    static_cast<int>(text.sample.has_value()) +
                    static_cast<int>(text.rate_limit.has_value()) +
                    static_cast<int>(!text.mask.empty());
  if (given != 1)
    return wrong("exactly one of publish, drop, sample, rate_limit and mask is expected");
  if (!text.by.empty() && !text.sample && !text.rate_limit)
    return wrong("by: only sample and rate_limit have it");
  if (text.drop)
    return {};
  if (text.publish) {
    to.action = rule_action::publish;
    return read_publish(to);
  }
  if (text.sample) {
    to.action = rule_action::sample;
    return read_sample(to);
  }
  if (text.rate_limit) {
    to.action = rule_action::rate_limit;
    return read_rate_limit(to);
  }
  to.action = rule_action::mask;
  return read_mask(to);
}

} // namespace

std::string rule::action_text() const {
  const auto of_field = text.by.empty() ? std::string{} : " by " + text.by;
  switch (action) {
  case rule_action::publish:
    return "publish " + *text.publish;
  case rule_action::drop:
    return "drop";
  case rule_action::sample:
    return fmt::format("sample {}{}", *text.sample, of_field);
  case rule_action::rate_limit:
    return fmt::format("rate_limit {}{}", *text.rate_limit, of_field);
  case rule_action::mask:
    return fmt::format("mask {}", fmt::join(text.mask, ", "));
  }
  return {};
}

expected<rule> make_rule(rule_text text) {
  if (text.name.empty())
    return wrong("name: a rule has one");
  if (text.topics.empty())
    return wrong("topics: prefixes are expected; \"\" is all topics");
  rule result{.text = std::move(text)};
  result.topics = filter{result.text.topics};
  if (!result.text.match.empty()) {
    auto match = read_condition("match", result.text.match, result.text);
    if (!match)
      return match.error();
    result.match = std::move(*match);
  }
  if (auto fault = read_action(result))
    return fault;
  return result;
}

} // namespace pubsub::tool
