// Vectors of one value; from braces, a value that is a vector itself would be copied instead.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <utility>

#include <pubsub/data.hpp>

namespace pubsub::test {

inline vector just(data x) {
  vector result;
  result.push_back(std::move(x));
  return result;
}

} // namespace pubsub::test
