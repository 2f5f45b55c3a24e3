// Takes records from a subscriber into the files of logs.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include <pubsub/subscriber.hpp>

#include "stop_signal.hpp"
#include "zeek_logs/writing/log_writer.hpp"
#include <pubsub/zeek/record_reader.hpp>

namespace pubsub::tool {

/// Why it has come to its end: a file cannot be written (`failed`), or the subscriber has been
/// disconnected (`closed`).
enum class session_end : unsigned char { stopped, closed, failed };

class log_session {
public:
  log_session(zeek::log_writer& to, subscriber& from) : to_(to), from_(from) {}

  /// Writes until something ends it; a signal from `rotate` rotates all files. Problems are
  /// complained about.
  session_end run(const stop_signal& stop, command_signal& rotate);
  /// What the subscriber still holds, and the ends of the files. False after a complaint.
  bool finish();

  const zeek::record_reader& reader() const noexcept { return reader_; }

private:
  bool take_batch(bool& closed);
  bool tick();
  bool succeeded(const expected<void>& done);

  zeek::log_writer& to_;
  subscriber& from_;
  zeek::record_reader reader_;
  std::vector<data_message> batch_;
  bool failed_ = false;
  std::uint64_t shown_ = 0; // records in the last line of progress
};

} // namespace pubsub::tool
