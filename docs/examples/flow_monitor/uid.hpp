// Identifiers for flows: unlike each other within a run, and unlike those of any other run.
#pragma once

#include <cstdint>
#include <string>

namespace flow_monitor {

class uid_source {
public:
  /// Equal seeds give equal sequences; production code passes 128 random bits.
  constexpr uid_source(std::uint64_t seed_low, std::uint64_t seed_high)
      : low_(seed_low), high_(seed_high) {}
  static uid_source from_random_device();

  /// `C` and 17 letters and digits. No two of the first 2^64 are equal.
  std::string next();
  [[nodiscard]] std::uint64_t seed() const { return high_; }

private:
  std::uint64_t low_;
  std::uint64_t high_;
};

/// Spreads every bit of `x` over the whole result; a bijection.
[[nodiscard]] constexpr std::uint64_t mix(std::uint64_t x) {
  x ^= x >> 31;
  x *= 0x9e3779b97f4a7c15U;
  x ^= x >> 29;
  x *= 0xd6e8feb86659fd93U;
  x ^= x >> 32;
  return x;
}

} // namespace flow_monitor
