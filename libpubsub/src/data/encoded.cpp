// SPDX-License-Identifier: BSD-3-Clause
#include "data/encoded.hpp"

#include "base/bytes.hpp"
#include "data/real_bits.hpp"

#include <algorithm>
#include <cstring>

namespace pubsub {

namespace {

template <class T>
int compare_loaded(const std::byte*& x, const std::byte*& y) noexcept {
  const auto a = load_be<T>(x);
  const auto b = load_be<T>(y);
  x += sizeof(T);
  y += sizeof(T);
  return a < b ? -1 : static_cast<int>(b < a);
}

int compare_reals(const std::byte*& x, const std::byte*& y) noexcept {
  const auto a = decode_real(load_be<std::uint64_t>(x));
  const auto b = decode_real(load_be<std::uint64_t>(y));
  x += sizeof(double);
  y += sizeof(double);
  return compare_real(a, b);
}

int compare_bytes(const std::byte*& x, const std::byte*& y, std::size_t size) noexcept {
  const int order = std::memcmp(x, y, size);
  x += size;
  y += size;
  return order;
}

int compare_strings(const std::byte*& x, const std::byte*& y) noexcept {
  const std::size_t a = load_valid_varbyte(x);
  const std::size_t b = load_valid_varbyte(y);
  if (const int order = compare_bytes(x, y, std::min(a, b)); order != 0)
    return order;
  return static_cast<int>(a > b) - static_cast<int>(a < b);
}

int compare_containers(const std::byte*& x, const std::byte*& y, unsigned values_each) noexcept {
  const std::uint64_t a = load_valid_varbyte(x) * std::uint64_t{values_each};
  const std::uint64_t b = load_valid_varbyte(y) * std::uint64_t{values_each};
  for (auto left = std::min(a, b); left > 0; --left)
    if (const int order = compare_encoded(x, y); order != 0)
      return order;
  return static_cast<int>(a > b) - static_cast<int>(a < b);
}

/// Any value will do; a scalar is quicker on its own.
const std::byte* skip_container(const std::byte* pos) noexcept {
  for (std::uint64_t pending = 1; pending > 0; --pending) {
    const auto type = tag_at(pos++);
    const auto size = body_size[static_cast<std::uint8_t>(type)];
    if (size != variable_size) {
      pos += size;
      continue;
    }
    const std::uint64_t size_or_count = load_valid_varbyte(pos);
    if (type == data_type::string || type == data_type::enum_value)
      pos += size_or_count;
    else
      pending += type == data_type::table ? 2 * size_or_count : size_or_count;
  }
  return pos;
}

} // namespace

const std::byte* skip_value(const std::byte* pos) noexcept {
  const auto type = tag_at(pos);
  if (const auto size = body_size[static_cast<std::uint8_t>(type)]; size != variable_size)
    return pos + 1 + size;
  if (type != data_type::string && type != data_type::enum_value)
    return skip_container(pos);
  ++pos;
  const std::size_t size = load_valid_varbyte(pos);
  return pos + size;
}

int compare_encoded(const std::byte*& x, const std::byte*& y) noexcept {
  const auto type = tag_at(x++);
  if (const auto other = tag_at(y++); type != other)
    return type < other ? -1 : 1;
  switch (type) {
  case data_type::none:
    return 0;
  case data_type::boolean: {
    const int order = static_cast<int>(*x != std::byte{0}) - static_cast<int>(*y != std::byte{0});
    ++x;
    ++y;
    return order;
  }
  case data_type::count:
    return compare_loaded<std::uint64_t>(x, y);
  case data_type::integer:
  case data_type::timestamp:
  case data_type::timespan:
    return compare_loaded<std::int64_t>(x, y);
  case data_type::real:
    return compare_reals(x, y);
  case data_type::string:
  case data_type::enum_value:
    return compare_strings(x, y);
  case data_type::address:
  case data_type::subnet:
  case data_type::port:
    return compare_bytes(x, y, body_size[static_cast<std::uint8_t>(type)]);
  case data_type::set:
  case data_type::vector:
    return compare_containers(x, y, 1);
  case data_type::table:
    return compare_containers(x, y, 2);
  }
  return 0;
}

} // namespace pubsub
