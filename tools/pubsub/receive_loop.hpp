// Takes messages from a subscriber until something ends it.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include <pubsub/subscriber.hpp>

#include "stop_signal.hpp"

namespace pubsub::tool {

enum class receive_end : unsigned char {
  enough,      ///< `take` wants no more
  stopped,     ///< Ctrl-C or SIGTERM
  out_of_time, ///< the deadline has passed
  closed,      ///< the subscriber was closed, and all that was queued has been taken
};

/// Hands what comes to `take`, many messages at a time, until that returns false.
template <class Take>
receive_end receive_until(subscriber& sub, const stop_signal& stop, const deadline& end,
                          Take&& take) {
  constexpr std::size_t batch_messages = 1024;
  std::vector<data_message> batch;
  for (;;) {
    switch (wait_readable(sub.fd(), stop, end)) {
    case wake::stopped:
      return receive_end::stopped;
    case wake::timeout:
      return receive_end::out_of_time;
    case wake::ready:
      break;
    }
    batch.clear();
    if (sub.get_batch_for(batch, batch_messages, std::chrono::nanoseconds{0}) ==
        receive_status::closed)
      return receive_end::closed;
    if (!take(batch))
      return receive_end::enough;
  }
}

} // namespace pubsub::tool
