// SPDX-License-Identifier: BSD-3-Clause
#include <pubsub/message_screen.hpp>

namespace pubsub {

message_screen::part::~part() = default;
message_screen::~message_screen() = default;

} // namespace pubsub
