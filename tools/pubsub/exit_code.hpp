// What the command's exit status says.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace pubsub::tool {

enum class exit_code : int {
  ok = 0,
  usage = 1,   ///< a wrong option or unusable input
  connect = 2, ///< could not listen, connect, or stay connected
  loss = 3, ///< a benchmark lost, repeated or reordered messages, a subscriber did not keep up, or
            ///< a message has no subscriber
  timeout = 4, ///< something expected did not happen in time
};

} // namespace pubsub::tool
