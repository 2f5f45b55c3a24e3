// The rules of a running node.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <pubsub/endpoint.hpp>

#include "rules/copier.hpp"
#include "rules/rule_screen.hpp"

namespace pubsub::tool {

/// Thread-safe.
class active_rules {
public:
  explicit active_rules(endpoint& ep) : ep_(ep) {}

  /// From now on these rules hold. Those that stay as they are count on, if their neighbours in the
  /// order stay as well.
  void change(std::vector<rule> rules, const std::optional<mask_key>& key);
  /// Ends the rules that publish, once they have copied what has come.
  void stop();

  /// Of all rules, in the order of the file, those that publish last; in the text format of
  /// Prometheus. Empty if there are none.
  std::string metrics() const;
  /// A sentence for each rule: its name, and what it has counted.
  std::vector<std::string> totals() const;

private:
  struct counted {
    std::string name;
    rule_counters counters;
  };
  std::vector<counted> count() const;

  endpoint& ep_;
  mutable std::mutex mutex_; // guards the following
  std::shared_ptr<const rule_screen> screen_;
  std::optional<mask_key> key_;
  std::vector<std::unique_ptr<copier>> copiers_;
};

} // namespace pubsub::tool
