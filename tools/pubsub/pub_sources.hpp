// Where `pubsub pub` takes its messages from.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <optional>
#include <string>

#include <pubsub/data.hpp>
#include <pubsub/error.hpp>

#include "zeek_logs/line_reader.hpp"

namespace pubsub::tool {

/// What `pub` sends; `schema` messages are announcements besides the records asked for.
struct outgoing {
  enum class kind : unsigned char { record, schema };
  std::string topic;
  data value;
  kind what = kind::record;
};

class message_source {
public:
  virtual ~message_source() = default;

  /// The next message; nothing at the end, or where a followed file has no more for now. After an
  /// error, calling again goes on with the next line.
  virtual expected<std::optional<outgoing>> next() = 0;
  /// Where the lines come from: to be waited on if nothing is buffered.
  virtual const line_reader& lines() const = 0;
  /// Subscribers to any topic below this one are worth starting for; empty: those of the first
  /// topic.
  virtual std::string wait_prefix() const { return {}; }
};

struct source_options {
  std::string topic;       ///< of lines that are no data messages
  std::string zeek_log;    ///< file, or empty
  std::string zeek_events; ///< file, or empty
  std::string input = "-"; ///< file of message lines
  bool text = false;       ///< lines are strings, not JSON
  reading mode = reading::whole_file;
};

/// Errors: cannot_open_file, not_supported (JSON input without the component pubsub::json).
expected<std::unique_ptr<message_source>> open_source(const source_options& options);

} // namespace pubsub::tool
