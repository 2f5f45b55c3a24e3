#include <pubsub/data_view.hpp>

#include "base/bytes.hpp"
#include "data/encoded.hpp"
#include "data/real_bits.hpp"

#include <cassert>

namespace pubsub {

namespace {

std::string_view load_string(const std::byte* pos) noexcept {
  const auto size = load_valid_varbyte(pos);
  return {reinterpret_cast<const char*>(pos), size};
}

address load_address(const std::byte* pos) noexcept {
  address::bytes_type bytes;
  std::memcpy(bytes.data(), pos, bytes.size());
  return address{bytes};
}

} // namespace

// Asking for a type the value does not have is a bug of the caller: loud in debug builds.
#define PUBSUB_EXPECT_TYPE(wanted, otherwise)                                                      \
  do {                                                                                             \
    assert(type() == (wanted));                                                                    \
    if (type() != (wanted))                                                                        \
      return otherwise;                                                                            \
  } while (false)

data_view data_view::from_valid(std::span<const std::byte> bytes) noexcept {
  return bytes.empty() ? data_view{} : data_view{bytes.data()};
}

data_type data_view::type() const noexcept {
  return tag_at(pos_);
}

bool data_view::as_boolean() const noexcept {
  PUBSUB_EXPECT_TYPE(data_type::boolean, false);
  return *body() != std::byte{0};
}

std::uint64_t data_view::as_count() const noexcept {
  PUBSUB_EXPECT_TYPE(data_type::count, 0);
  return load_be<std::uint64_t>(body());
}

std::int64_t data_view::as_integer() const noexcept {
  PUBSUB_EXPECT_TYPE(data_type::integer, 0);
  return load_be<std::int64_t>(body());
}

double data_view::as_real() const noexcept {
  PUBSUB_EXPECT_TYPE(data_type::real, 0.0);
  return decode_real(load_be<std::uint64_t>(body()));
}

std::string_view data_view::as_string() const noexcept {
  PUBSUB_EXPECT_TYPE(data_type::string, {});
  return load_string(body());
}

address data_view::as_address() const noexcept {
  PUBSUB_EXPECT_TYPE(data_type::address, {});
  return load_address(body());
}

subnet data_view::as_subnet() const noexcept {
  PUBSUB_EXPECT_TYPE(data_type::subnet, {});
  return subnet::from_raw(load_address(body()),
                          load_be<std::uint8_t>(body() + address::size_bytes));
}

port data_view::as_port() const noexcept {
  PUBSUB_EXPECT_TYPE(data_type::port, {});
  return {load_be<std::uint16_t>(body()), static_cast<transport>(body()[2])};
}

timestamp data_view::as_timestamp() const noexcept {
  PUBSUB_EXPECT_TYPE(data_type::timestamp, {});
  return timestamp{timespan{load_be<std::int64_t>(body())}};
}

timespan data_view::as_timespan() const noexcept {
  PUBSUB_EXPECT_TYPE(data_type::timespan, {});
  return timespan{load_be<std::int64_t>(body())};
}

std::string_view data_view::as_enum() const noexcept {
  PUBSUB_EXPECT_TYPE(data_type::enum_value, {});
  return load_string(body());
}

#undef PUBSUB_EXPECT_TYPE

data_view::range data_view::elements() const noexcept {
  if (type() != data_type::set && type() != data_type::vector)
    return {};
  const auto* pos = body();
  const auto members = load_valid_varbyte(pos);
  return {iterator{pos, members}};
}

data_view::table_range data_view::entries() const noexcept {
  if (type() != data_type::table)
    return {};
  const auto* pos = body();
  const auto members = load_valid_varbyte(pos);
  return {table_iterator{pos, members}};
}

std::size_t data_view::size() const noexcept {
  if (type() != data_type::set && type() != data_type::table && type() != data_type::vector)
    return 0;
  const auto* pos = body();
  return load_valid_varbyte(pos);
}

std::span<const std::byte> data_view::bytes() const noexcept {
  return {pos_, skip_value(pos_)};
}

data_view::iterator& data_view::iterator::operator++() noexcept {
  pos_ = skip_value(pos_);
  --left_;
  return *this;
}

data_view::table_iterator::table_iterator(const std::byte* pos, std::size_t left) noexcept
    : key_(pos), value_(left > 0 ? skip_value(pos) : nullptr), left_(left) {}

data_view::table_iterator& data_view::table_iterator::operator++() noexcept {
  key_ = skip_value(value_);
  --left_;
  value_ = left_ > 0 ? skip_value(key_) : nullptr;
  return *this;
}

} // namespace pubsub
