// Tables of ClickHouse for Zeek's logs, so that records land in typed columns.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>

#include <pubsub/error.hpp>
#include <pubsub/export.hpp>
#include <pubsub/zeek/log.hpp>

namespace pubsub::bridge {

/// What the tables are called, and where ClickHouse reads records from.
struct clickhouse_options {
  std::string database = "zeek";
  /// Of the table; empty: the path of the log.
  std::string table;
  /// `host:port` of Kafka's brokers as ClickHouse reaches them; empty: only the table itself.
  std::string brokers;
  /// The topic that a sink writes records to, with the format zeek_json; empty:
  /// `<database>.<table>`.
  std::string topic;
  /// The group as which ClickHouse reads it.
  std::string group = "clickhouse";
};

/// The type of a column in ClickHouse for a type of Zeek's logs, such as `DateTime64(6, 'UTC')` for
/// `time` and `Array(String)` for `set[string]`. Scalars may be unset, so they are nullable, and so
/// are elements of vectors; an array that is unset is empty. Errors: not_supported, a type that
/// logs cannot hold.
PUBSUB_EXPORT expected<std::string> clickhouse_type(std::string_view zeek_type);

/// Statements in SQL, each with a semicolon: the database and a table with a column for each of the
/// log's, ordered by `ts` where there is one, which is then not nullable; with brokers, a table
/// that reads the topic, and a view that moves what comes into the first. Arrays whose names are
/// alike up to a dot, such as `san.dns` and `san.ip` of x509.log, are of the type
/// `Variant(Array(...))`, which ClickHouse has from version 25.3 on: it would take them for one
/// nested table otherwise. Errors: invalid_argument (no columns), not_supported; the context names
/// the column.
PUBSUB_EXPORT expected<std::string> clickhouse_ddl(const zeek::log_schema& schema,
                                                   const clickhouse_options& options = {});

} // namespace pubsub::bridge
