// Seeded random values of the data model.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <utility>

#include <pubsub/data.hpp>

namespace pubsub::test {

/// Makes the same values for the same seed. With `json_exact` only those json::v1 gives back
/// exactly: reals of six decimals, whole milliseconds since 1970.
class random_data {
public:
  explicit random_data(std::uint64_t seed, bool json_exact = false)
      : engine_(seed), json_exact_(json_exact) {}

  data value(unsigned depth = 4) {
    switch (below(depth == 0 ? 12 : 15)) {
    case 0:
      return none{};
    case 1:
      return below(2) == 1;
    case 2:
      return number();
    case 3:
      return static_cast<std::int64_t>(number());
    case 4:
      return real_value();
    case 5:
      return text();
    case 6:
      return some_address();
    case 7: {
      const auto network = some_address();
      return subnet{network, static_cast<unsigned>(below(network.is_v4() ? 33 : 129))};
    }
    case 8:
      return port{static_cast<std::uint16_t>(below(65536)), static_cast<transport>(below(4))};
    case 9:
      return instant();
    case 10:
      return timespan{static_cast<std::int64_t>(number())};
    case 11:
      return enum_value{text()};
    case 12:
      return some_set(depth - 1);
    case 13:
      return some_table(depth - 1);
    default:
      return some_vector(depth - 1);
    }
  }

  std::uint64_t below(std::uint64_t bound) { return engine_() % bound; }

private:
  // Small numbers often, so that members of a set collide now and then.
  std::uint64_t number() { return below(2) == 0 ? below(8) : engine_() >> below(64); }

  double real_value() {
    const auto whole = static_cast<double>(static_cast<std::int64_t>(below(1 << 20)) - (1 << 19));
    if (json_exact_)
      return whole / 64;
    constexpr double special[] = {0.0, -0.0, HUGE_VAL, -HUGE_VAL, 1e300, 2.2250738585072014e-308};
    return below(4) == 0 ? special[below(6)] : whole / 1e3;
  }

  std::string text() {
    std::string out(below(8) == 0 ? below(300) : below(6), ' ');
    for (auto& c : out)
      c = static_cast<char>(below(2) == 0 ? 'a' + below(4) : below(256));
    return out;
  }

  address some_address() {
    if (below(2) == 0)
      return address::v4(static_cast<std::uint32_t>(engine_()));
    address::bytes_type bytes{};
    for (auto& x : bytes)
      x = static_cast<std::uint8_t>(below(2) == 0 ? 0 : below(256));
    return address{bytes};
  }

  timestamp instant() {
    auto ns = static_cast<std::int64_t>(engine_());
    if (json_exact_)
      ns = (ns & INT64_MAX) / 1'000'000 * 1'000'000;
    return timestamp{timespan{ns}};
  }

  data some_set(unsigned depth) {
    set out;
    for (auto n = below(5); n > 0; --n)
      out.insert(value(depth));
    return out;
  }

  data some_table(unsigned depth) {
    table out;
    for (auto n = below(5); n > 0; --n) {
      auto key = value(depth);
      out.insert_or_assign(std::move(key), value(depth));
    }
    return out;
  }

  data some_vector(unsigned depth) {
    vector out;
    for (auto n = below(6); n > 0; --n)
      out.push_back(value(depth));
    return out;
  }

  std::mt19937_64 engine_;
  bool json_exact_;
};

} // namespace pubsub::test
