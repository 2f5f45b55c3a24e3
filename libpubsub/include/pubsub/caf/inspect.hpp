// Values and messages within messages of CAF, the C++ actor framework (0.17 and later).
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <caf/actor_system_config.hpp>
#include <caf/config.hpp>
#include <caf/error.hpp>
#include <caf/sec.hpp>

// A version as one number: 0.17.6 is 1706, and 1.0.2 is 10002. CAF's own number leaves the 1 out.
#if defined(CAF_VERSION_MAJOR) && CAF_VERSION_MAJOR >= 1
#define PUBSUB_CAF_VERSION (CAF_VERSION_MAJOR * 10000 + CAF_VERSION_MINOR * 100 + CAF_VERSION_PATCH)
#else
#define PUBSUB_CAF_VERSION CAF_VERSION
#endif

#if PUBSUB_CAF_VERSION < 1800
#include <caf/allowed_unsafe_message_type.hpp>
#include <caf/meta/load_callback.hpp>
#else
#include <caf/byte_buffer.hpp>
#include <caf/init_global_meta_objects.hpp>
#include <caf/type_id.hpp>
#endif

#include <pubsub/data.hpp>
#include <pubsub/data_message.hpp>
#include <pubsub/export.hpp>

namespace pubsub::caf {

#if PUBSUB_CAF_VERSION < 1800
/// Encoded values, in the type that CAF reads and writes in one piece.
using encoded_bytes = std::vector<char>;
#else
using encoded_bytes = ::caf::byte_buffer;
#endif

/// In bin::v1; empty for a value that is too large for that.
PUBSUB_EXPORT encoded_bytes encode(const data& x);
PUBSUB_EXPORT encoded_bytes encode(const data_message& x);
/// Reads what comes from another process. False, and `x` is as before, where the bytes are no
/// value.
[[nodiscard]] PUBSUB_EXPORT bool decode(const encoded_bytes& bytes, data& x);
/// The same, of the value of a message; an empty message where topic and bytes are empty.
[[nodiscard]] PUBSUB_EXPORT bool decode(std::string topic, const encoded_bytes& bytes,
                                        data_message& x);

} // namespace pubsub::caf

namespace pubsub {

// How actors of several processes exchange values and messages, and how CAF shows them. A value
// travels as bin::v1, and malformed bytes are an error of the one who reads them.
#if PUBSUB_CAF_VERSION < 1800
template <class Inspector>
auto inspect(Inspector& f, data& x) {
  if constexpr (Inspector::reads_state) {
    auto bytes = caf::encode(x);
    return f(bytes);
  } else {
    caf::encoded_bytes bytes;
    return f(bytes, ::caf::meta::load_callback([&]() -> ::caf::error {
               return caf::decode(bytes, x) ? ::caf::error{} : ::caf::sec::invalid_argument;
             }));
  }
}

template <class Inspector>
auto inspect(Inspector& f, data_message& x) {
  if constexpr (Inspector::reads_state) {
    std::string topic{get_topic(x)};
    auto bytes = caf::encode(x);
    return f(topic, bytes);
  } else {
    std::string topic;
    caf::encoded_bytes bytes;
    return f(topic, bytes, ::caf::meta::load_callback([&]() -> ::caf::error {
               return caf::decode(std::move(topic), bytes, x) ? ::caf::error{}
                                                              : ::caf::sec::invalid_argument;
             }));
  }
}
#else
template <class Inspector>
bool inspect(Inspector& f, data& x) {
  const auto get = [&x] { return caf::encode(x); };
  const auto take = [&x](const caf::encoded_bytes& bytes) { return caf::decode(bytes, x); };
  return f.object(x).fields(f.field("value", get, take));
}

template <class Inspector>
bool inspect(Inspector& f, data_message& x) {
  std::string topic{get_topic(x)};
  const auto get = [&x] { return caf::encode(x); };
  const auto take = [&](const caf::encoded_bytes& bytes) {
    return caf::decode(std::move(topic), bytes, x);
  };
  return f.object(x).fields(f.field("topic", topic), f.field("value", get, take));
}
#endif

} // namespace pubsub
