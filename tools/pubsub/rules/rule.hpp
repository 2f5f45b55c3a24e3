// A rule for messages: which it is about, and what becomes of them.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <pubsub/condition.hpp>
#include <pubsub/error.hpp>
#include <pubsub/filter.hpp>
#include <pubsub/message_fields.hpp>

namespace pubsub::tool {

/// A rule as it stands in a file; one of the actions is given.
struct rule_text {
  std::string name = {};
  std::vector<std::string> topics = {};  ///< prefixes
  std::string match = {};                ///< a condition; empty: all messages
  std::vector<std::string> columns = {}; ///< `name` or `name:type`; none: what logs announce
  std::optional<std::string> publish = {};
  bool drop = false;
  std::optional<std::uint64_t> sample = {};
  std::optional<double> rate_limit = {};
  std::vector<std::string> mask = {};
  std::string by = {}; ///< a field, of sample and rate_limit

  friend bool operator==(const rule_text&, const rule_text&) = default;
};

enum class rule_action : std::uint8_t { publish, drop, sample, rate_limit, mask };

/// As it is applied.
struct rule {
  rule_text text = {};
  filter topics = {};
  std::optional<condition> match = {};
  rule_action action = rule_action::drop;
  std::optional<condition> sampled = {};  ///< what of a sample passes
  std::optional<message_field> by = {};   ///< of a rate limit
  std::vector<message_field> masked = {}; ///< of a mask

  /// As the file has it, such as `sample 100 by uid`.
  std::string action_text() const;

  friend bool operator==(const rule& x, const rule& y) { return x.text == y.text; }
};

/// Errors: invalid_argument and those of `condition::make`; the context is a sentence, with the
/// place in a condition in lines of their own.
expected<rule> make_rule(rule_text text);

/// The tables `[[rule]]` of a configuration file. Errors: cannot_open_file; those of `make_rule`,
/// with file, line and the name of the rule; not_supported in a build without toml++.
expected<std::vector<rule>> read_rules(const std::string& path);

} // namespace pubsub::tool
