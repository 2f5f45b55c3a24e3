// What fuzz targets assert: stop at once, so that the fuzzing engine keeps the input.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <span>

#include <pubsub/binary.hpp>
#include <pubsub/data.hpp>
#include <pubsub/format.hpp>

#include "fuzz/memory_bound.hpp"

namespace pubsub::fuzz {

inline void check(bool ok, const char* what) {
  if (ok)
    return;
  std::fprintf(stderr, "does not hold: %s\n", what);
  std::abort();
}

/// What a decoder may ask for: each byte may become a value of the model in a node of a container,
/// containers grow by doubling, and an error has its text.
inline memory_bound bounded_by(std::size_t input_bytes, std::size_t bytes_each = 512) {
  return memory_bound{16 * 1024 + bytes_each * input_bytes};
}

/// Subnormal reals become zero when encoded, so they may differ or coincide afterwards.
inline bool has_subnormal(const data& x) {
  if (const auto* number = x.get_if<real>())
    return std::fpclassify(*number) == FP_SUBNORMAL;
  if (const auto* members = x.get_if<vector>())
    return std::any_of(members->begin(), members->end(), has_subnormal);
  if (const auto* members = x.get_if<set>())
    return std::any_of(members->begin(), members->end(), has_subnormal);
  if (const auto* pairs = x.get_if<table>())
    return std::any_of(pairs->begin(), pairs->end(), [](const auto& pair) {
      return has_subnormal(pair.first) || has_subnormal(pair.second);
    });
  return false;
}

inline void check_bytes_give_back(const data& x) {
  if (has_subnormal(x))
    return;
  const auto bytes = encode_binary(x);
  check(bytes.has_value(), "a decoded value encodes");
  const auto again = decode_binary(*bytes, {.max_depth = 512});
  check(again.has_value(), "what was encoded decodes");
  check(*again == x, "decoding what was encoded gives the value back");
  check(*encode_binary(*again) == *bytes, "encoding is stable");
}

/// Bytes are nothing, or a frame that is read as it was written; but for spellings of counts, and
/// flags without a meaning. `make` returns the frame behind a length of 4 bytes.
template <class Parse, class Make>
void check_frame(std::span<const std::byte> bytes, Parse parse, Make make) {
  decltype(parse(bytes)) x;
  {
    const auto bound = bounded_by(bytes.size());
    x = parse(bytes);
  }
  if (!x)
    return;
  const auto once = make(*x);
  const auto again = parse(std::span{once}.subspan(4));
  check(again && make(*again) == once, "a frame is read as it was written");
}

} // namespace pubsub::fuzz
