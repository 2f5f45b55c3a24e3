// SPDX-License-Identifier: BSD-3-Clause
#include <pubsub/data_view.hpp>

#include "base/bytes.hpp"
#include "data/encoded.hpp"
#include "data/real_bits.hpp"

#include <cstring>

namespace pubsub {

namespace {

address load_address(const std::byte* pos) noexcept {
  address::bytes_type bytes;
  std::memcpy(bytes.data(), pos, bytes.size());
  return address{bytes};
}

} // namespace

data_view data_view::from_valid(std::span<const std::byte> bytes) noexcept {
  return bytes.empty() ? data_view{} : data_view{bytes.data()};
}

double data_view::as_real() const noexcept {
  return is(data_type::real) ? decode_real(load_number(body())) : 0.0;
}

address data_view::as_address() const noexcept {
  return is(data_type::address) ? load_address(body()) : address{};
}

subnet data_view::as_subnet() const noexcept {
  if (!is(data_type::subnet))
    return {};
  return subnet::from_raw(load_address(body()),
                          load_be<std::uint8_t>(body() + address::size_bytes));
}

port data_view::as_port() const noexcept {
  if (!is(data_type::port))
    return {};
  return {load_be<std::uint16_t>(body()), static_cast<transport>(body()[2])};
}

std::size_t data_view::size() const noexcept {
  if (type() != data_type::set && type() != data_type::table && type() != data_type::vector)
    return 0;
  const auto* pos = body();
  return load_size(pos);
}

std::span<const std::byte> data_view::bytes() const noexcept {
  return {pos_, skip_value(pos_)};
}

std::uint32_t data_view::load_long_size(const std::byte*& pos) noexcept {
  return load_valid_varbyte(pos);
}

const std::byte* data_view::behind(const std::byte* pos) noexcept {
  return skip_value(pos);
}

data_view::table_iterator::table_iterator(const std::byte* pos, std::size_t left) noexcept
    : key_(pos), value_(left > 0 ? skip_value(pos) : nullptr), left_(left) {}

data_view::table_iterator& data_view::table_iterator::operator++() noexcept {
  if (--left_ > 0) {
    key_ = skip_value(value_);
    value_ = skip_value(key_);
  }
  return *this;
}

} // namespace pubsub
