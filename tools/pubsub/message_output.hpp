// What `sub` makes of messages: lines on stdout, or tables that a program in Python writes.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <pubsub/data_message.hpp>
#include <pubsub/error.hpp>

#include "exit_code.hpp"

namespace pubsub::tool {

enum class output_format : std::uint8_t { json, text, csv, zeek_tsv, arrow, parquet };

/// By the names that they have on the command line.
struct named_format {
  const char* name;
  output_format format;
};
inline constexpr named_format output_formats[] = {
    {"json", output_format::json},   {"text", output_format::text},
    {"csv", output_format::csv},     {"zeek-tsv", output_format::zeek_tsv},
    {"arrow", output_format::arrow}, {"parquet", output_format::parquet}};

class message_output {
public:
  virtual ~message_output() = default;

  /// Whether the message is to be counted: formats of records pass over all others. Errors: those
  /// that end the command.
  virtual expected<bool> add(const data_message& msg) = 0;
  /// Writes what was added. False once the reader of the output has gone.
  virtual bool flush() = 0;
  /// Behind the last message: complains of what could not be written.
  virtual exit_code end() { return exit_code::ok; }
};

/// `file`: for Arrow and Parquet, `-` is stdout. Errors: limit_exceeded (no process can be
/// started).
expected<std::unique_ptr<message_output>> open_output(output_format format,
                                                      const std::string& file);

} // namespace pubsub::tool
