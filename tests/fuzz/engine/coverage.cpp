// Compiled without the instrumentation that calls it.
#include "fuzz/engine/coverage.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace pubsub::fuzz {

namespace {

constexpr std::size_t map_size = 1 << 15;

alignas(8) std::array<std::uint8_t, map_size> taken; // by this input, counted
std::array<std::uint8_t, map_size> known;            // by any, one bit for each order of magnitude
std::array<comparison, 128> compared;
std::size_t compared_count = 0;
std::uintptr_t last_place = 0;
std::size_t known_edges = 0;
bool called = false;

void note(std::uint64_t seen, std::uint64_t wanted, std::uint8_t size) noexcept {
  if (seen == wanted)
    return;
  compared[compared_count % compared.size()] = {seen, wanted, size};
  ++compared_count;
}

} // namespace

void begin_tracing() noexcept {
  taken.fill(0);
  compared_count = 0;
  last_place = 0;
}

bool found_something_new() noexcept {
  bool is_new = false;
  for (std::size_t at = 0; at < map_size; at += 8) {
    std::uint64_t eight = 0;
    std::memcpy(&eight, taken.data() + at, sizeof eight);
    if (eight == 0)
      continue;
    for (auto i = at; i < at + 8; ++i) {
      if (taken[i] == 0)
        continue;
      const auto magnitude = static_cast<std::uint8_t>(1 << (std::bit_width(taken[i]) - 1));
      known_edges += known[i] == 0;
      is_new = is_new || (known[i] & magnitude) == 0;
      known[i] = static_cast<std::uint8_t>(known[i] | magnitude);
    }
  }
  return is_new;
}

std::span<const comparison> comparisons() noexcept {
  return {compared.data(), std::min(compared_count, compared.size())};
}

std::size_t edges() noexcept {
  return known_edges;
}

bool is_guided() noexcept {
  return called;
}

} // namespace pubsub::fuzz

using pubsub::fuzz::note;

extern "C" {

void __sanitizer_cov_trace_pc() {
  using namespace pubsub::fuzz;
  // From a place of our own: addresses differ from run to run, distances do not.
  const auto place = reinterpret_cast<std::uintptr_t>(__builtin_return_address(0)) -
                     reinterpret_cast<std::uintptr_t>(&begin_tracing);
  const auto mixed = (place * 0x9e3779b97f4a7c15u) >> 40;
  auto& count = taken[(mixed ^ last_place) % map_size];
  count = static_cast<std::uint8_t>(count + (count < 255));
  last_place = mixed >> 1;
  called = true;
}

void __sanitizer_cov_trace_cmp1(std::uint8_t x, std::uint8_t y) {
  note(x, y, 1);
}
void __sanitizer_cov_trace_cmp2(std::uint16_t x, std::uint16_t y) {
  note(x, y, 2);
}
void __sanitizer_cov_trace_cmp4(std::uint32_t x, std::uint32_t y) {
  note(x, y, 4);
}
void __sanitizer_cov_trace_cmp8(std::uint64_t x, std::uint64_t y) {
  note(x, y, 8);
}
void __sanitizer_cov_trace_const_cmp1(std::uint8_t constant, std::uint8_t x) {
  note(x, constant, 1);
}
void __sanitizer_cov_trace_const_cmp2(std::uint16_t constant, std::uint16_t x) {
  note(x, constant, 2);
}
void __sanitizer_cov_trace_const_cmp4(std::uint32_t constant, std::uint32_t x) {
  note(x, constant, 4);
}
void __sanitizer_cov_trace_const_cmp8(std::uint64_t constant, std::uint64_t x) {
  note(x, constant, 8);
}
void __sanitizer_cov_trace_cmpf(float, float) {}
void __sanitizer_cov_trace_cmpd(double, double) {}
/// `cases`: how many, the bits of the type, and the numbers.
void __sanitizer_cov_trace_switch(std::uint64_t x, std::uint64_t* cases) {
  for (std::uint64_t i = 0; i < std::min<std::uint64_t>(cases[0], 16); ++i)
    note(x, cases[2 + i], static_cast<std::uint8_t>(cases[1] / 8));
}

} // extern "C"
