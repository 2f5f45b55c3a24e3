// Which connections a client needs for what it wants, where each has its subscriptions for good.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace pubsub::cluster {

/// What is to be done next.
struct connection_step {
  enum class kind {
    none,
    open,    ///< one more, with `prefixes`
    replace, ///< close all, then open one with `prefixes`
  } what = kind::none;
  std::vector<std::string> prefixes;
};

/// Knows the connections of one client by their numbers, from 0, in the order of opening. Each
/// topic belongs to the first connection that has a prefix of it: what comes on it over another one
/// has come twice, and over its own connection no server sends an event back. Pure; not
/// thread-safe.
class connection_plan {
public:
  static constexpr std::size_t max_connections = 4;

  /// What is to be done so that all of `wanted` comes; the step is taken as begun. Nothing while
  /// the step before is not finished.
  connection_step follow(const std::set<std::string>& wanted);
  /// The connection that was to be opened is open: it has the next number, or is the only one.
  void opened();

  std::size_t size() const noexcept { return open_.size(); }
  /// The connection that a topic belongs to; nothing if none brings it.
  std::optional<std::size_t> owner(std::string_view topic) const noexcept;
  /// The one to publish on: the owner, or the first. There must be one.
  std::size_t publishing(std::string_view topic) const noexcept { return owner(topic).value_or(0); }

private:
  using prefixes = std::vector<std::string>;

  std::vector<prefixes> open_;
  std::optional<prefixes> opening_;
  bool replacing_ = false;
};

} // namespace pubsub::cluster
