// SPDX-License-Identifier: BSD-3-Clause
#include "bridge/jetstream/api_reply.hpp"

#include <simdjson.h>

#include "base/printable.hpp"

namespace pubsub::bridge {

namespace dom = simdjson::dom;

namespace {

std::string text_at(const dom::object& object, std::string_view name) {
  std::string_view text;
  if (object[name].get(text) != simdjson::SUCCESS)
    return {};
  return printable(text);
}

std::optional<std::uint64_t> number_at(const dom::object& object, std::string_view name) {
  std::uint64_t number = 0;
  if (object[name].get(number) != simdjson::SUCCESS)
    return {};
  return number;
}

/// The only answers that come at the rate of records.
bool read_receipt(const dom::object& object, api_reply& out) {
  out.stream = text_at(object, "stream");
  if (!out.stream.empty())
    out.sequence = number_at(object, "seq");
  return out.sequence.has_value();
}

void read_consumer(const dom::object& object, api_reply& out) {
  if (out.stream.empty())
    out.stream = text_at(object, "stream_name");
  out.name = text_at(object, "name");
  out.pending = number_at(object, "num_pending").value_or(0);
  out.unacknowledged = number_at(object, "num_ack_pending").value_or(0);
  dom::object delivered;
  out.is_consumer = !out.name.empty() && object["delivered"].get(delivered) == simdjson::SUCCESS;
  if (out.is_consumer) {
    out.delivered = number_at(delivered, "consumer_seq").value_or(0);
    out.delivered_record = number_at(delivered, "stream_seq").value_or(0);
  }
}

void read_names(const dom::object& object, api_reply& out) {
  if (!number_at(object, "total"))
    return;
  out.first_name.emplace();
  dom::array names;
  if (object["streams"].get(names) != simdjson::SUCCESS)
    return;
  std::string_view first;
  if (names.size() > 0 && names.at(0).get(first) == simdjson::SUCCESS)
    out.first_name = printable(first);
}

} // namespace

struct api_parser::state {
  dom::parser parser;
};

api_parser::api_parser() : state_(std::make_unique<state>()) {}
api_parser::~api_parser() = default;

std::optional<api_reply> api_parser::parse(std::string_view text) {
  dom::object object;
  if (text.empty() ||
      state_->parser.parse(text.data(), text.size()).get(object) != simdjson::SUCCESS)
    return {};
  api_reply result;
  dom::object failure;
  if (object["error"].get(failure) == simdjson::SUCCESS) {
    result.error =
        api_error{number_at(failure, "code").value_or(0),
                  number_at(failure, "err_code").value_or(0), text_at(failure, "description")};
    return result;
  }
  if (!read_receipt(object, result)) {
    read_consumer(object, result);
    read_names(object, result);
  }
  return result;
}

} // namespace pubsub::bridge
