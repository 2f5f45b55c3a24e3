// Which conditions compare one field with a value: found by the value, not one after the other.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

#include "filter/program.hpp"
#include "filter/scalar.hpp"

namespace pubsub::conditions {

/// Numbers of conditions by the values that they compare a field with, and by the subnets in which
/// they want it to lie, those by their lengths. Values belong to the programs of the conditions.
class literal_index {
public:
  using numbers = std::vector<std::uint32_t>;

  void add(const compiled_test& test, std::uint32_t number);
  /// Calls `visit` with the number of each condition that the value fulfils; with some of them more
  /// than once.
  template <class Visitor>
  void visit(const scalar& value, Visitor&& visit) const {
    const auto call = [&](const numbers& found) {
      for (const auto each : found)
        visit(each);
    };
    if (may_be_equal(value))
      if (const auto found = equal_.find(value); found != equal_.end())
        call(found->second);
    if (value.kind != scalar_kind::host && value.kind != scalar_kind::network)
      return;
    for (const auto& [length, subnets] : within_)
      if (const auto found = subnets.find(network_part(value.raw, length));
          found != subnets.end() && reaches(value, length))
        call(found->second);
  }

private:
  using address_bytes = std::array<std::byte, 16>;

  static bool has_bytes(scalar_kind x) noexcept {
    return x == scalar_kind::text || x == scalar_kind::label || x == scalar_kind::host ||
           x == scalar_kind::network;
  }
  static std::size_t mixed(std::uint64_t x) noexcept {
    x *= 0x9E37'79B9'7F4A'7C15;
    return static_cast<std::size_t>(x ^ (x >> 32U));
  }

  /// Numbers that are equal have one hash, whatever their types.
  struct scalar_hash {
    std::size_t operator()(const scalar& x) const noexcept {
      const bool is_bits = x.kind == scalar_kind::number ? !x.is_real : !has_bytes(x.kind);
      return is_bits ? mixed(x.bits) : of_other(x);
    }

  private:
    static std::size_t of_other(const scalar& x) noexcept;
  };
  struct scalar_equal {
    bool operator()(const scalar& x, const scalar& y) const noexcept {
      return x.kind == y.kind && compare(x, y) == order::equal;
    }
  };
  struct address_hash {
    std::size_t operator()(const address_bytes& x) const noexcept;
  };

  static std::uint64_t mark_of(const scalar& x) noexcept {
    return std::uint64_t{1} << (scalar_hash{}(x) % 64);
  }
  /// Most values are equal to none, and where there are few literals this says so for less than the
  /// look into a table costs.
  bool may_be_equal(const scalar& x) const noexcept { return (marks_ & mark_of(x)) != 0; }

  static address_bytes network_part(const std::byte* raw, unsigned length) noexcept;
  /// Whether an address, or all of a subnet, can lie in one of that length.
  static bool reaches(const scalar& x, unsigned length) noexcept {
    return x.kind == scalar_kind::host ||
           static_cast<unsigned>(x.raw[address::size_bytes]) >= length;
  }

  std::unordered_map<scalar, numbers, scalar_hash, scalar_equal> equal_;
  std::uint64_t marks_ = 0; // of the literals in equal_
  std::map<unsigned, std::unordered_map<address_bytes, numbers, address_hash>> within_;
};

} // namespace pubsub::conditions
