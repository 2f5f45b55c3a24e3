// What a serializer of Zeek has written, as a value that can be published.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

#include <pubsub/data_view.hpp>
#include <pubsub/data_writer.hpp>

namespace pubsub::zeek::backend {

/// Bytes in the format that a serializer of Zeek's has written, under its name. Events of other
/// formats than that of values travel in the same way.
struct formatted_bytes {
  std::string_view format;
  std::span<const std::byte> bytes;
};

/// The value is a vector of both, as strings.
inline void write(data_writer& to, const formatted_bytes& what) {
  to.begin_vector(2);
  to.write_string(what.format);
  to.write_string({reinterpret_cast<const char*>(what.bytes.data()), what.bytes.size()});
}

/// Refers to the bytes of `value`. Nothing if that is something else.
inline std::optional<formatted_bytes> read_formatted(const data_view& value) {
  if (value.type() != data_type::vector || value.size() != 2)
    return std::nullopt;
  auto at = value.elements().begin();
  const auto format = *at;
  const auto bytes = *++at;
  if (format.type() != data_type::string || bytes.type() != data_type::string)
    return std::nullopt;
  return formatted_bytes{format.as_string(), std::as_bytes(std::span{bytes.as_string()})};
}

} // namespace pubsub::zeek::backend
