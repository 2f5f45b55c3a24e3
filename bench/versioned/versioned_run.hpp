// One measurement of versioned delivery: clients and replicas as processes, linked each with each.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <pubsub/pattern/versioned_options.hpp>

#include "stop_signal.hpp"
#include "versioned/version_history.hpp"

namespace pubsub::tool::bench {

enum class sending : unsigned char {
  one_by_one, ///< a message when the one before is acknowledged
  pipelined,  ///< so many as the window holds
};

struct versioned_setting {
  versioning scheme = versioning::one_hop_ack_client;
  std::size_t payload_bytes = 100;
  sending how = sending::one_by_one;
  unsigned replicas = 3;
  unsigned clients = 1;
  std::size_t window = versioned_group_options{}.window_messages;
  double duration_s = 1;
  std::size_t messages = 0; ///< of each client; 0: for the duration
  bool check = false;
  bool spoil = false; ///< the last replica forgets a message: so that tests see the check fail
};

/// Links that a message, its version and the last acknowledgement cross one behind the other.
unsigned hops_of(versioning scheme) noexcept;

/// What all processes together took for a message.
struct message_costs {
  double bytes = 0;    ///< written to links
  double switches = 0; ///< threads that slept and were woken
  double cpu_us = 0;
  std::optional<double> calls; ///< to the system; nothing where they cannot be counted
};

struct versioned_sample {
  enum class state : unsigned char { measured, failed, interrupted };
  state status = state::failed;
  std::string note; ///< why it failed
  std::uint64_t messages = 0;
  double seconds = 0;
  double p50_us = 0;
  double p99_us = 0;
  message_costs costs;
  history_verdict verdict; ///< where it was asked for

  bool measured() const noexcept { return status == state::measured; }
  double rate() const noexcept { return static_cast<double>(messages) / seconds; }
};

/// Starts everything, measures, counts and ends it.
versioned_sample run_versioned(const versioned_setting& setting, const stop_signal& stop);

} // namespace pubsub::tool::bench
