// SPDX-License-Identifier: BSD-3-Clause
#include "filter/literal_index.hpp"

#include <cmath>
#include <cstring>
#include <functional>
#include <string_view>

namespace pubsub::conditions {

namespace {

std::size_t hash_of_bytes(const std::byte* at, std::size_t size) noexcept {
  return std::hash<std::string_view>{}({reinterpret_cast<const char*>(at), size});
}

} // namespace

void literal_index::add(const compiled_test& test, std::uint32_t number) {
  for (const auto& each : test.equals) {
    equal_[each].push_back(number);
    marks_ |= mark_of(each);
  }
  for (const auto& each : test.others) {
    const auto length = static_cast<unsigned>(each.first.raw[address::size_bytes]);
    within_[length][network_part(each.first.raw, length)].push_back(number);
  }
}

literal_index::address_bytes literal_index::network_part(const std::byte* raw,
                                                         unsigned length) noexcept {
  address_bytes result{};
  std::memcpy(result.data(), raw, length / 8);
  if (length % 8 != 0)
    result[length / 8] = raw[length / 8] & (std::byte{0xff} << (8 - length % 8));
  return result;
}

std::size_t literal_index::scalar_hash::of_other(const scalar& x) noexcept {
  constexpr double two_to_64 = 18446744073709551616.0;
  constexpr double two_to_63 = 9223372036854775808.0;
  if (x.kind == scalar_kind::text || x.kind == scalar_kind::label)
    return std::hash<std::string_view>{}(x.text);
  if (x.kind == scalar_kind::host)
    return hash_of_bytes(x.raw, address::size_bytes);
  if (x.kind == scalar_kind::network)
    return hash_of_bytes(x.raw, address::size_bytes + 1);
  if (x.real >= two_to_64 || x.real < -two_to_63)
    return std::hash<double>{}(x.real);
  const double whole = std::trunc(x.real);
  return mixed(whole < 0 ? static_cast<std::uint64_t>(static_cast<std::int64_t>(whole))
                         : static_cast<std::uint64_t>(whole));
}

std::size_t literal_index::address_hash::operator()(const address_bytes& x) const noexcept {
  return hash_of_bytes(x.data(), x.size());
}

} // namespace pubsub::conditions
