// SPDX-License-Identifier: BSD-3-Clause
#include <pubsub/queue_options.hpp>

namespace pubsub {

std::string_view to_string(overflow_policy x) noexcept {
  switch (x) {
  case overflow_policy::block:
    return "block";
  case overflow_policy::drop_oldest:
    return "drop_oldest";
  case overflow_policy::drop_newest:
    return "drop_newest";
  case overflow_policy::conflate:
    return "conflate";
  case overflow_policy::disconnect:
    return "disconnect";
  }
  return "unknown";
}

expected<void> check(const queue_options& options) {
  if (options.capacity_messages == 0)
    return error{errc::invalid_argument, "capacity_messages is 0; a queue holds at least 1"};
  if (options.capacity_bytes == 0)
    return error{errc::invalid_argument, "capacity_bytes is 0; a queue holds at least 1"};
  return {};
}

} // namespace pubsub
