// A rule that publishes: copies messages to another topic.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>

#include <pubsub/endpoint.hpp>

#include "rules/rule.hpp"
#include "rules/rule_screen.hpp"

namespace pubsub::tool {

/// Publishes what a subscriber of its own gets, on a thread of its own, from its making to its
/// end. While the topic that the copies go to takes no more, neither do the others.
class copier {
public:
  copier(endpoint& ep, const rule& by);
  copier(const copier&) = delete;
  copier& operator=(const copier&) = delete;
  ~copier() { end(); }
  /// Copies what has come by then, but not for longer than `patience`; then nothing more.
  void end();

  const rule& by() const noexcept { return by_; }
  /// `dropped`: copies that were not taken, as too large or because a queue was full.
  rule_counters counters() const noexcept;

private:
  static constexpr std::chrono::seconds patience{3};

  void run();

  const rule by_;
  endpoint& ep_;
  subscriber from_;
  std::atomic<std::uint64_t> passed_{0};
  std::atomic<std::uint64_t> dropped_{0};
  std::atomic<bool> gives_up_{false}; // copies that have to wait
  std::thread thread_;
};

} // namespace pubsub::tool
