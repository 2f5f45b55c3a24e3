// Messages that are structures: a vector of their kind and their fields.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <variant>
#include <vector>

#include <pubsub/data_view.hpp>
#include <pubsub/data_writer.hpp>
#include <pubsub/publishable.hpp>
#include <pubsub/value/endpoint_id.hpp>

#include "pattern/mailbox/sequence_ranges.hpp"

namespace pubsub::pattern {

/// What has `fields(x)`: a tuple of references, in the order in which they travel. A message also
/// has the number `kind`, other than that of any message on the same topics; a structure that has
/// `adds_up` is asked after it was read.
template <class T>
concept structure = requires(T& x) {
  T::fields(x);
};

/// Encoded values one behind the other; on the wire they are a vector.
struct value_list {
  std::uint64_t count = 0;
  std::span<const std::byte> bytes;
};

/// The bytes of a value that is to be sent: its own, or those that are written to `room`.
inline std::span<const std::byte> bytes_of(const encodable& x, data_writer& room) {
  if (const auto* encoded = x.encoded())
    return *encoded;
  room.write(x.value());
  return room.bytes();
}

// -- writing -------------------------------------------------------------------------------------

inline void write_field(data_writer& out, std::uint64_t x) {
  out.write_count(x);
}
inline void write_field(data_writer& out, bool x) {
  out.write_boolean(x);
}
inline void write_field(data_writer& out, const std::string& x) {
  out.write_string(x);
}
inline void write_field(data_writer& out, const endpoint_id& x) {
  out.write_string({reinterpret_cast<const char*>(x.bytes().data()), x.bytes().size()});
}
inline void write_field(data_writer& out, const value_list& x) {
  out.begin_vector(x.count);
  out.write_encoded(x.bytes);
}
template <structure T>
void write_field(data_writer& out, const T& x);
template <class T>
void write_field(data_writer& out, const std::vector<T>& x) {
  out.begin_vector(x.size());
  for (const auto& each : x)
    write_field(out, each);
}
template <class... Fields>
void write_field(data_writer& out, const std::tuple<Fields...>& x) {
  out.begin_vector(sizeof...(Fields));
  std::apply([&](const auto&... each) { (write_field(out, each), ...); }, x);
}
template <structure T>
void write_field(data_writer& out, const T& x) {
  write_field(out, T::fields(x));
}

/// Appends a message as a whole value.
template <class Message>
void write(data_writer& out, const Message& x) {
  write_field(out, std::tuple_cat(std::tuple{Message::kind}, Message::fields(x)));
}

/// Room for a message that is sent at once.
class message_buffer {
public:
  /// Its bytes, until the next one is encoded.
  template <class Message>
  std::span<const std::byte> encode(const Message& x) {
    out_.clear();
    write(out_, x);
    return out_.bytes();
  }

private:
  data_writer out_;
};

// -- reading -------------------------------------------------------------------------------------

/// Reads fields one after the other; false once one is not what it should be.
class field_reader {
public:
  explicit field_reader(const data_view& value) {
    if (value.type() == data_type::vector)
      next_ = value.elements().begin();
  }

  bool read(std::uint64_t& out) {
    return take(data_type::count, [&](const auto& x) { out = x.as_count(); });
  }
  bool read(bool& out) {
    return take(data_type::boolean, [&](const auto& x) { out = x.as_boolean(); });
  }
  bool read(std::string& out) {
    return take(data_type::string, [&](const auto& x) { out = x.as_string(); });
  }
  bool read(data_view& out) {
    return take(data_type::vector, [&](const auto& x) { out = x; });
  }
  bool read(endpoint_id& out) {
    std::string_view text;
    endpoint_id::bytes_type bytes{};
    if (!take(data_type::string, [&](const auto& x) { text = x.as_string(); }) ||
        text.size() != bytes.size())
      return false;
    std::memcpy(bytes.data(), text.data(), bytes.size());
    out = endpoint_id{bytes};
    return true;
  }
  bool read(value_list& out) {
    data_view field;
    if (!read(field))
      return false;
    out.count = field.size();
    if (out.count > 0) {
      const auto whole = field.bytes();
      const auto* first = (*field.elements().begin()).bytes().data();
      out.bytes = whole.subspan(static_cast<std::size_t>(first - whole.data()));
    }
    return true;
  }
  template <class T>
  bool read(std::vector<T>& out) {
    data_view field;
    if (!read(field))
      return false;
    for (field_reader elements{field}; !elements.at_end();)
      if (!elements.read(out.emplace_back()))
        return false;
    return true;
  }
  template <structure T>
  bool read(T& out) {
    data_view field;
    return read(field) && field_reader{field}.read_fields(out);
  }
  /// All fields that are left; false if there are more.
  template <structure T>
  bool read_fields(T& out) {
    const auto read_all = [&](auto&... field) { return (read(field) && ...) && at_end(); };
    if (!std::apply(read_all, T::fields(out)))
      return false;
    if constexpr (requires { out.adds_up(); })
      return out.adds_up();
    return true;
  }
  bool at_end() const noexcept { return next_ == data_view::iterator{}; }

private:
  template <class Use>
  bool take(data_type wanted, Use&& use) {
    if (at_end())
      return false;
    const auto field = *next_;
    ++next_;
    if (field.type() != wanted)
      return false;
    use(field);
    return true;
  }

  data_view::iterator next_;
};

/// False if `value` is none of these messages, or malformed. Views are valid as long as the bytes
/// of `value`.
template <class... Messages>
bool read_any(const data_view& value, std::variant<Messages...>& out) {
  field_reader in{value};
  std::uint64_t kind = 0;
  return in.read(kind) &&
         ((kind == Messages::kind && in.read_fields(out.template emplace<Messages>())) || ...);
}

/// Nothing if `value` is another message, or malformed.
template <class Message>
std::optional<Message> parse(const data_view& value) {
  std::variant<Message> result;
  return read_any(value, result) ? std::optional{std::get<0>(std::move(result))} : std::nullopt;
}

} // namespace pubsub::pattern
