// Takes messages from a subscriber into files, or into a ring in memory.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <pubsub/record/ring.hpp>
#include <pubsub/record/writer.hpp>
#include <pubsub/subscriber.hpp>

#include "recording/ring_trigger.hpp"
#include "stop_signal.hpp"

namespace pubsub::tool {

using recording = std::variant<record::writer, record::ring>;

struct recorder_limits {
  std::string path;
  std::optional<std::uint64_t> messages;
  deadline end;
};

/// Why a recorder has come to its end.
enum class recorder_end : unsigned char { stopped, enough, out_of_time, closed, failed };

class recorder {
public:
  recorder(recording& to, subscriber& from, recorder_limits limits,
           std::optional<ring_trigger> trigger = {});

  /// Records until something ends it; a signal from `save`, or the trigger, writes the ring.
  /// Problems are complained about.
  recorder_end run(const stop_signal& stop, command_signal& save);
  /// What the subscriber still holds, and the end of the file, or the ring where a request for it
  /// waits. False after a complaint.
  bool finish();

  std::uint64_t messages() const noexcept { return messages_; }
  /// Of files, or of the rings that were written.
  const record::totals& totals() const noexcept { return totals_; }
  const record::gap& missing() const noexcept { return noted_; }
  /// Messages that arrived and did not fulfil the condition of the subscriber.
  std::uint64_t filtered() const { return from_.counters().filtered; }
  const std::optional<ring_trigger>& trigger() const noexcept { return trigger_; }

private:
  bool take_batch(bool& closed);
  bool write(std::vector<data_message>& batch);
  void note_gaps();
  void look_for_trigger(timestamp when);
  bool save_where_due();
  bool save_ring(const std::optional<ring_request>& request = {});
  bool tick();
  bool succeeded(const expected<void>& done);
  bool enough() const noexcept { return limits_.messages && messages_ >= *limits_.messages; }

  recording& to_;
  subscriber& from_;
  recorder_limits limits_;
  std::optional<ring_trigger> trigger_;
  std::vector<data_message> batch_;
  std::uint64_t messages_ = 0;
  std::uint64_t shown_ = 0; // of them in the last line of progress
  record::gap noted_;
  record::totals totals_;
};

} // namespace pubsub::tool
