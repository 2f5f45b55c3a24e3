// Records of Zeek's logs as events, and what names their columns.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <pubsub/data.hpp>
#include <pubsub/export.hpp>

namespace pubsub::zeek {

/// A column: its name and its type as Zeek writes it, e.g. `id.orig_h` and `addr`.
struct log_field {
  std::string name;
  std::string type;
  friend bool operator==(const log_field&, const log_field&) = default;
};

/// What is known of a log: its path (`conn`) and its columns.
struct log_schema {
  std::string path;
  std::vector<log_field> fields;
  /// Changes whenever path or fields do; 0 means no header was seen yet.
  std::uint64_t version = 0;
};

/// Where records of a log are published: `zeek/records/conn`.
PUBSUB_EXPORT std::string log_topic(std::string_view path);
/// A record as the Zeek event `log_<path>` with one argument, the vector of its columns.
PUBSUB_EXPORT data make_log_event(std::string_view path, vector values);
/// The columns as the Zeek event `log_fields(path, [[name, type], ...])`.
PUBSUB_EXPORT data make_log_fields_event(const log_schema& schema);

} // namespace pubsub::zeek
