// Records of Zeek's logs in Avro: their schemas, and how records refer to them.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <pubsub/error.hpp>
#include <pubsub/export.hpp>
#include <pubsub/zeek/log.hpp>

namespace pubsub::bridge {

/// The schema of a log's records, as JSON: the record `zeek.<path>` with a field for each column. A
/// field has the name of its column with `_` for what Avro does not allow in names (`id_orig_h`),
/// and can be null, which is its default. `time` is `timestamp-micros`, `interval` and `double` are
/// double, `count` and `int` long, `port` int, `bool` boolean, sets and vectors arrays, and all
/// else string. Errors: invalid_argument (no columns, two that would have the same name),
/// not_supported (a type that logs cannot hold); the context names the column.
PUBSUB_EXPORT expected<std::string> avro_schema(const zeek::log_schema& schema);

/// CRC-64-AVRO of a schema in Parsing Canonical Form: what records in single-object encoding begin
/// with, behind two bytes, in little-endian (Avro 1.11, "Single-object encoding").
PUBSUB_EXPORT std::uint64_t avro_fingerprint(std::string_view canonical_schema);
/// The fingerprint of the schema of a log's records. Errors: those of `avro_schema`.
PUBSUB_EXPORT expected<std::uint64_t> avro_fingerprint(const zeek::log_schema& schema);

} // namespace pubsub::bridge
