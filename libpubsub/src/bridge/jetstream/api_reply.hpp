// What a NATS server answers to requests and to records, as JSON.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace pubsub::bridge {

struct api_error {
  std::uint64_t code = 0;   ///< as of HTTP
  std::uint64_t number = 0; ///< of the server's own list
  std::string text;
};

/// The members of all kinds of answers that are of interest here; those that are missing are empty.
struct api_reply {
  std::optional<api_error> error;
  std::string stream;                    ///< of a record that is kept; `stream_name` of a consumer
  std::optional<std::uint64_t> sequence; ///< of a record that is kept
  std::string name;                      ///< of a consumer
  std::uint64_t pending = 0;             ///< of a consumer: records that were not given out yet
  std::uint64_t unacknowledged = 0;      ///< of a consumer: records that were
  bool is_consumer = false;
  std::uint64_t delivered = 0;           ///< of a consumer: number of its last delivery
  std::uint64_t delivered_record = 0;    ///< and the sequence number that it was at then
  std::optional<std::string> first_name; ///< of a list of streams; empty where there are none
};

/// Keeps its memory from one answer to the next. Not thread-safe.
class api_parser {
public:
  api_parser();
  ~api_parser();

  /// Nothing if the text is no JSON object.
  std::optional<api_reply> parse(std::string_view text);

private:
  struct state;
  std::unique_ptr<state> state_;
};

} // namespace pubsub::bridge
