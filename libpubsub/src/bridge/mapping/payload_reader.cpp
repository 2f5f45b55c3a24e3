// SPDX-License-Identifier: BSD-3-Clause
#include "bridge/mapping/payload_reader.hpp"

#include <span>
#include <string>
#include <utility>

#include <pubsub/data.hpp>
#include <pubsub/data_view.hpp>
#include <pubsub/data_writer.hpp>
#include <pubsub/format.hpp>
#include <simdjson.h>

namespace pubsub::bridge {

namespace {

constexpr unsigned deepest = 64;

error not_json(simdjson::error_code why) {
  return {errc::invalid_json, simdjson::error_message(why)};
}

expected<data> value_of(simdjson::dom::element from, unsigned depth);

expected<data> table_of(simdjson::dom::object from, unsigned depth) {
  table result;
  for (const auto& [name, member] : from) {
    auto value = value_of(member, depth + 1);
    if (!value)
      return value;
    result.insert_or_assign(data{std::string{name}}, std::move(*value)); // of two the last counts
  }
  return data{std::move(result)};
}

expected<data> vector_of(simdjson::dom::array from, unsigned depth) {
  vector result;
  for (const auto member : from) {
    auto value = value_of(member, depth + 1);
    if (!value)
      return value;
    result.push_back(std::move(*value));
  }
  return data{std::move(result)};
}

expected<data> value_of(simdjson::dom::element from, unsigned depth) {
  using simdjson::dom::element_type;
  if (depth > deepest)
    return error{errc::limit_exceeded, "JSON nested more deeply than 64"};
  switch (from.type()) {
  case element_type::OBJECT:
    return table_of(from.get_object().value_unsafe(), depth);
  case element_type::ARRAY:
    return vector_of(from.get_array().value_unsafe(), depth);
  case element_type::STRING:
    return data{std::string{from.get_string().value_unsafe()}};
  case element_type::INT64: {
    const auto number = from.get_int64().value_unsafe();
    return number >= 0 ? data{static_cast<count>(number)} : data{integer{number}};
  }
  case element_type::UINT64:
    return data{count{from.get_uint64().value_unsafe()}};
  case element_type::DOUBLE:
    return data{real{from.get_double().value_unsafe()}};
  case element_type::BOOL:
    return data{boolean{from.get_bool().value_unsafe()}};
  case element_type::NULL_VALUE:
    break;
  }
  return data{};
}

} // namespace

struct payload_reader::state {
  simdjson::dom::parser parser;
  data_writer out;
};

payload_reader::payload_reader() : state_(std::make_unique<state>()) {}
payload_reader::payload_reader(payload_reader&&) noexcept = default;
payload_reader& payload_reader::operator=(payload_reader&&) noexcept = default;
payload_reader::~payload_reader() = default;

expected<std::span<const std::byte>> payload_reader::read(std::string_view payload,
                                                          payload_format format) {
  auto& out = state_->out;
  out.clear();
  switch (format) {
  case payload_format::binary: {
    const auto bytes = std::as_bytes(std::span{payload});
    if (const auto valid = data_view::make(bytes); !valid)
      return valid.error();
    return bytes;
  }
  case payload_format::json: {
    const auto value = from_json(payload);
    if (!value)
      return value.error();
    out.write(*value);
    break;
  }
  case payload_format::avro:
    return error{errc::not_supported, "records in Avro are written, and not read"};
  case payload_format::string:
    out.write_string(payload);
    break;
  case payload_format::zeek_json:
  case payload_format::plain_json: {
    simdjson::dom::element root;
    if (const auto failed = state_->parser.parse(payload.data(), payload.size()).get(root);
        failed != simdjson::SUCCESS)
      return not_json(failed);
    const auto value = value_of(root, 0);
    if (!value)
      return value.error();
    out.write(*value);
    break;
  }
  }
  return out.bytes();
}

} // namespace pubsub::bridge
