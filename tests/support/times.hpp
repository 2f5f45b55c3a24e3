// Moments by their distance from 1970.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include <pubsub/data.hpp>

namespace pubsub::test {

inline timestamp at_ns(std::int64_t ns) {
  return timestamp{timespan{ns}};
}

} // namespace pubsub::test
