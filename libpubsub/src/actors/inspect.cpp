// SPDX-License-Identifier: BSD-3-Clause
#include <pubsub/caf/inspect.hpp>

#include <cstring>
#include <span>

#include <pubsub/binary.hpp>
#include <pubsub/caf/actors.hpp>
#include <pubsub/data_view.hpp>
#include <pubsub/topic.hpp>

namespace pubsub::caf {

namespace {

encoded_bytes copy_of(std::span<const std::byte> bytes) {
  encoded_bytes result(bytes.size());
  if (!bytes.empty())
    std::memcpy(result.data(), bytes.data(), bytes.size());
  return result;
}

} // namespace

encoded_bytes encode(const data& x) {
  const auto bytes = encode_binary(x);
  return bytes ? copy_of(*bytes) : encoded_bytes{};
}

encoded_bytes encode(const data_message& x) {
  return is_data_message(x) ? copy_of(get_view(x).bytes()) : encoded_bytes{};
}

bool decode(const encoded_bytes& bytes, data& x) {
  auto value = decode_binary(std::as_bytes(std::span{bytes}));
  if (value)
    x = std::move(*value);
  return value.has_value();
}

bool decode(std::string topic, const encoded_bytes& bytes, data_message& x) {
  if (topic.empty() && bytes.empty()) {
    x = {};
    return true;
  }
  data value;
  if (topic.size() > topic::max_size_bytes || !decode(bytes, value))
    return false;
  x = make_data_message(topic, std::move(value));
  return true;
}

void add_message_types([[maybe_unused]] ::caf::actor_system_config& config) {
#if PUBSUB_CAF_VERSION < 1800
  config.add_message_type<data>("pubsub::data");
  config.add_message_type<data_message>("pubsub::data_message");
#endif
}

void init_types() {
#if PUBSUB_CAF_VERSION >= 1800
  ::caf::init_global_meta_objects<::caf::id_block::libpubsub>();
#endif
}

} // namespace pubsub::caf
