// Records of logs in Avro's single-object encoding.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <pubsub/data.hpp>
#include <pubsub/error.hpp>
#include <pubsub/zeek/log.hpp>

namespace pubsub::bridge {

/// What a column is in Avro.
enum class avro_type : std::uint8_t { boolean, int32, int64, real, text, time };

struct avro_column {
  avro_type element = avro_type::text;
  bool is_array = false;
};

/// Errors: not_supported.
expected<avro_column> avro_column_of(std::string_view zeek_type);

/// Appends the value of a column, without the branch of its union. False if it is of another type,
/// or a number that Avro cannot hold.
bool add_avro_value(std::string& out, const avro_column& column, const data& value);

/// Not for concurrent use.
class avro_writer {
public:
  /// Appends a record. False, and `out` is as before, if it does not fit its columns, or Avro
  /// cannot hold those.
  bool add_record(std::string& out, const zeek::log_schema& schema, const vector& values);

private:
  struct known_schema {
    std::uint64_t version = 0;
    std::vector<zeek::log_field> fields;
    std::vector<avro_column> columns; // none where Avro cannot hold them
    std::string head;                 // marker and fingerprint
  };
  const known_schema& look_up(const zeek::log_schema& schema);

  std::map<std::string, known_schema, std::less<>> schemas_; // by path
};

} // namespace pubsub::bridge
