// A part of a run: what leaves a queue.
#pragma once

#include "message/message_run.hpp"

namespace pubsub {

struct run_slice {
  intrusive_ptr<message_run> run;
  run_position from;
  run_position size; ///< 0 messages for control frames, which are neither bounded nor dropped
};

} // namespace pubsub
