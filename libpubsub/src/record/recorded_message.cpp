// SPDX-License-Identifier: BSD-3-Clause
#include <pubsub/record/recorded_message.hpp>

#include <string>

#include <pubsub/binary.hpp>
#include <pubsub/format.hpp>

namespace pubsub::record {

namespace {

error other_encoding(const message& msg) {
  return {errc::not_supported, "a message on topic " + std::string{msg.topic} + " is encoded as '" +
                                   std::string{msg.encoding} + "'"};
}

expected<data> value_of_json([[maybe_unused]] const message& msg) {
#ifdef PUBSUB_HAS_JSON
  const std::string_view text{reinterpret_cast<const char*>(msg.payload.data()),
                              msg.payload.size()};
  auto read = message_from_json(text);
  if (!read)
    return read.error();
  return std::move(read->value);
#else
  return error{errc::not_supported, "reading JSON is left out of this build: it needs simdjson"};
#endif
}

} // namespace

expected<data_view> view_of(const message& msg) {
  return msg.encoding == binary_encoding ? data_view::make(msg.payload) : other_encoding(msg);
}

expected<data> value_of(const message& msg) {
  if (msg.encoding == binary_encoding)
    return decode_binary(msg.payload);
  return msg.encoding == json_encoding ? value_of_json(msg) : other_encoding(msg);
}

} // namespace pubsub::record
