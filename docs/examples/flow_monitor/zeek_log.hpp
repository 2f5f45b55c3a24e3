// Zeek's tab-separated log format. A log line is written from the very values that are published,
// so the two cannot disagree.
#pragma once

#include <pubsub/data.hpp>
#include <pubsub/error.hpp>

#include <cstdint>
#include <fstream>
#include <string>
#include <string_view>

namespace flow_monitor {

/// `text` with tabs, control bytes, backslashes and, inside containers, commas written as \xHH.
/// Text that would read as unset (`-`) or empty (`(empty)`) has its first byte escaped too.
[[nodiscard]] std::string escape(std::string_view text, bool is_element);

/// One value as it stands between two tabs.
[[nodiscard]] std::string to_field(const pubsub::data& value);

/// One record as a line, without the newline.
[[nodiscard]] std::string to_line(const pubsub::vector& values);

/// Appends records to a log file. The header is written on opening, `#close` by close().
class zeek_log {
public:
  /// Replaces the file at `path`. Errors: cannot_write_file.
  static pubsub::expected<zeek_log> open(const std::string& path, pubsub::timestamp now);

  /// Errors: cannot_write_file, for instance on a full disk.
  pubsub::expected<void> write(const pubsub::vector& values);
  pubsub::expected<void> close(pubsub::timestamp now);

private:
  zeek_log(std::ofstream file, std::string path) : file_(std::move(file)), path_(std::move(path)) {}
  pubsub::expected<void> check();

  std::ofstream file_;
  std::string path_;
};

} // namespace flow_monitor
