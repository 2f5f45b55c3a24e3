// A value that can be compared: of a message, still encoded, or of the text of a condition.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include <pubsub/data.hpp>

namespace pubsub::conditions {

/// What can be equal to one another. The three types of numbers are one kind; `host` is an address,
/// `network` a subnet, `service` a port, `moment` a timestamp, `duration` a timespan, `label` of an
/// enum.
enum class scalar_kind : std::uint8_t {
  truth,
  number,
  text,
  label,
  host,
  network,
  service,
  moment,
  duration,
};

/// A set of kinds.
using kind_set = std::uint16_t;
constexpr kind_set only(scalar_kind x) noexcept {
  return static_cast<kind_set>(1U << static_cast<unsigned>(x));
}
inline constexpr kind_set any_kind = (1U << 9U) - 1;

/// `number`: whole, with `bits` as a signed integer where `negative`, or `real`. `truth`,
/// `moment` and `duration`: `bits`. `service`: `bits` is number << 8 | protocol. `host` and
/// `network`: `raw` has 16 and 17 bytes. The bytes that `text` and `raw` refer to outlive it.
struct scalar {
  scalar_kind kind = scalar_kind::truth;
  bool is_real = false;
  bool negative = false;
  std::uint64_t bits = 0;
  double real = 0;
  std::string_view text = {}; ///< of a text or a label
  const std::byte* raw = nullptr;
};

/// Less, equal, greater, or nothing where two values of one kind have no order: ports of different
/// protocols, other than by being unequal.
enum class order : std::uint8_t { less, equal, greater, unordered };

/// Of two values of one kind, numbers by their exact values.
order compare(const scalar& x, const scalar& y) noexcept;
/// The same as a total order, for sorting.
inline bool sorts_before(const scalar& x, const scalar& y) noexcept {
  if (x.kind != y.kind)
    return x.kind < y.kind;
  if (x.kind == scalar_kind::service)
    return x.bits < y.bits;
  return compare(x, y) == order::less;
}

/// Whether an address or a subnet, which is `x`, lies in the subnet of 17 bytes at `network`.
bool lies_within(const scalar& x, const std::byte* network) noexcept;

/// A value of the data model; nothing for none, containers, and NaN. The scalar refers to `x`.
std::optional<scalar> scalar_of(const data& x) noexcept;

} // namespace pubsub::conditions
