// A bridge that runs, in either direction, and what it has counted.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "bridges/bridge_options.hpp"
#include "json_object.hpp"

namespace pubsub::tool {

class running_bridge {
public:
  /// Errors: those of `sink::open` and `source::open`.
  static expected<running_bridge> open(const endpoint& at, std::string name,
                                       const bridge_plan& plan);

  const std::string& name() const noexcept { return name_; }
  bool is_source() const noexcept { return std::holds_alternative<bridge::source>(what_); }
  bridge::bridge_counters counters() const;
  bool closed() const;
  error failure() const;
  std::string last_problem() const;
  /// Of a sink: waits until what was taken is with the engine; how much is not.
  std::size_t drain(std::chrono::nanoseconds timeout);
  void close();

private:
  running_bridge(std::string name, std::variant<bridge::sink, bridge::source> what)
      : name_(std::move(name)), what_(std::move(what)) {}

  std::string name_;
  std::variant<bridge::sink, bridge::source> what_;
};

/// `consumed 1,000, delivered 990, rejected 10 (bad_payload 10), in flight 0`.
std::string summary_of(const bridge::bridge_counters& x);
/// The same as a JSON object.
json_object json_of(const bridge::bridge_counters& x);
/// The same of all bridges, in the text format of Prometheus.
std::string metrics_of(const std::vector<const running_bridge*>& all);

} // namespace pubsub::tool
