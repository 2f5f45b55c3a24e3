// Messages that are structures: a vector of their kind and their fields.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "pattern/mailbox/field_reader.hpp"
#include "pattern/mailbox/field_writer.hpp"

namespace pubsub::pattern {

inline void write_field(data_writer& out, std::uint64_t x) {
  out.write_count(x);
}
inline void write_field(data_writer& out, const endpoint_id& x) {
  write_id(out, x);
}
inline void write_field(data_writer& out, const std::vector<sequence_range>& x) {
  write_runs(out, x);
}

/// Appends a message as a whole value. `Message` has the number `kind`, other than that of any
/// message on the same topics, and `fields(x)`: a tuple of references, in the order in which they
/// travel.
template <class Message>
void write(data_writer& out, const Message& x) {
  std::apply(
      [&](const auto&... field) {
        out.begin_vector(1 + sizeof...(field));
        out.write_count(Message::kind);
        (write_field(out, field), ...);
      },
      Message::fields(x));
}

/// Nothing if `value` is another message, or malformed. Where `Message` has `adds_up`, that is
/// asked, too.
template <class Message>
std::optional<Message> parse(const data_view& value) {
  field_reader in{value};
  std::uint64_t kind = 0;
  std::optional<Message> result{std::in_place};
  const auto read = [&](auto&... field) { return in.read_all(field...); };
  if (!in.read(kind) || kind != Message::kind || !std::apply(read, Message::fields(*result)))
    return {};
  if constexpr (requires { result->adds_up(); })
    if (!result->adds_up())
      return {};
  return result;
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

} // namespace pubsub::pattern
