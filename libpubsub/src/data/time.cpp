// SPDX-License-Identifier: BSD-3-Clause
#include <pubsub/value/time.hpp>

namespace pubsub {

timestamp now() noexcept {
  return std::chrono::time_point_cast<timespan>(std::chrono::system_clock::now());
}

} // namespace pubsub
