// SPDX-License-Identifier: BSD-3-Clause
#include "filter/scalar.hpp"

#include <cmath>
#include <cstring>

namespace pubsub::conditions {

namespace {

template <class T>
order order_of(const T& x, const T& y) noexcept {
  return x < y ? order::less : (y < x ? order::greater : order::equal);
}

order reversed(order x) noexcept {
  if (x == order::less)
    return order::greater;
  return x == order::greater ? order::less : x;
}

/// Negative numbers in two's complement order among themselves as their bits do.
order compare_whole(const scalar& x, const scalar& y) noexcept {
  if (x.negative != y.negative)
    return x.negative ? order::less : order::greater;
  return order_of(x.bits, y.bits);
}

/// By the exact values: a real is cut to a whole number first, and its fraction decides a tie.
order compare_real_with_whole(double x, const scalar& y) noexcept {
  constexpr double two_to_64 = 18446744073709551616.0;
  constexpr double two_to_63 = 9223372036854775808.0;
  if (x >= two_to_64)
    return order::greater;
  if (x < -two_to_63)
    return order::less;
  const double whole = std::trunc(x);
  scalar cut{.kind = scalar_kind::number, .negative = whole < 0};
  cut.bits = cut.negative ? static_cast<std::uint64_t>(static_cast<std::int64_t>(whole))
                          : static_cast<std::uint64_t>(whole);
  const auto result = compare_whole(cut, y);
  return result == order::equal ? order_of(x, whole) : result;
}

order compare_numbers(const scalar& x, const scalar& y) noexcept {
  if (!x.is_real && !y.is_real)
    return compare_whole(x, y);
  if (x.is_real && y.is_real)
    return order_of(x.real, y.real);
  return x.is_real ? compare_real_with_whole(x.real, y)
                   : reversed(compare_real_with_whole(y.real, x));
}

order compare_ports(std::uint64_t x, std::uint64_t y) noexcept {
  return (x & 0xff) != (y & 0xff) ? order::unordered : order_of(x, y);
}

scalar whole_number(std::uint64_t bits, bool negative) noexcept {
  return {.kind = scalar_kind::number, .negative = negative, .bits = bits};
}

scalar nanoseconds(scalar_kind kind, std::int64_t x) noexcept {
  return {.kind = kind, .bits = static_cast<std::uint64_t>(x)};
}

struct scalar_maker {
  using result = std::optional<scalar>;

  result operator()(boolean x) const noexcept {
    return scalar{.kind = scalar_kind::truth, .bits = x};
  }
  result operator()(count x) const noexcept { return whole_number(x, false); }
  result operator()(integer x) const noexcept {
    return whole_number(static_cast<std::uint64_t>(x), x < 0);
  }
  result operator()(real x) const noexcept {
    if (std::isnan(x))
      return {};
    return scalar{.kind = scalar_kind::number, .is_real = true, .real = x};
  }
  result operator()(const std::string& x) const noexcept {
    return scalar{.kind = scalar_kind::text, .text = x};
  }
  result operator()(const enum_value& x) const noexcept {
    return scalar{.kind = scalar_kind::label, .text = x.name()};
  }
  result operator()(const address& x) const noexcept {
    return scalar{.kind = scalar_kind::host,
                  .raw = reinterpret_cast<const std::byte*>(x.bytes().data())};
  }
  result operator()(const subnet& x) const noexcept {
    static_assert(sizeof(subnet) == address::size_bytes + 1);
    return scalar{.kind = scalar_kind::network, .raw = reinterpret_cast<const std::byte*>(&x)};
  }
  result operator()(port x) const noexcept {
    return scalar{.kind = scalar_kind::service,
                  .bits =
                      std::uint64_t{x.number()} << 8U | static_cast<std::uint64_t>(x.protocol())};
  }
  result operator()(timestamp x) const noexcept {
    return nanoseconds(scalar_kind::moment, x.time_since_epoch().count());
  }
  result operator()(timespan x) const noexcept {
    return nanoseconds(scalar_kind::duration, x.count());
  }
  result operator()(const auto&) const noexcept { return {}; }
};

} // namespace

order compare(const scalar& x, const scalar& y) noexcept {
  switch (x.kind) {
  case scalar_kind::number:
    return compare_numbers(x, y);
  case scalar_kind::truth:
    return order_of(x.bits, y.bits);
  case scalar_kind::moment:
  case scalar_kind::duration:
    return order_of(static_cast<std::int64_t>(x.bits), static_cast<std::int64_t>(y.bits));
  case scalar_kind::service:
    return compare_ports(x.bits, y.bits);
  case scalar_kind::text:
  case scalar_kind::label:
    return order_of(x.text.compare(y.text), 0);
  case scalar_kind::host:
    return order_of(std::memcmp(x.raw, y.raw, address::size_bytes), 0);
  case scalar_kind::network:
    return order_of(std::memcmp(x.raw, y.raw, address::size_bytes + 1), 0);
  }
  return order::unordered;
}

bool lies_within(const scalar& x, const std::byte* network) noexcept {
  const auto length = static_cast<unsigned>(network[address::size_bytes]);
  if (length > 128 || (x.kind == scalar_kind::network &&
                       static_cast<unsigned>(x.raw[address::size_bytes]) < length))
    return false;
  if (std::memcmp(x.raw, network, length / 8) != 0)
    return false;
  const auto rest = length % 8;
  if (rest == 0)
    return true;
  const auto differing = x.raw[length / 8] ^ network[length / 8];
  return (differing >> (8 - rest)) == std::byte{0};
}

std::optional<scalar> scalar_of(const data& x) noexcept {
  return std::visit(scalar_maker{}, x.variant());
}

} // namespace pubsub::conditions
