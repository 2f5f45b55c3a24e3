#include "transport/io_threads.hpp"

#include <algorithm>

namespace pubsub {

io_threads::io_threads(unsigned loops) {
  for (unsigned i = 0; i < std::max(loops, 1U); ++i)
    loops_.push_back(std::make_unique<event_loop>());
}

void io_threads::start() {
  if (std::exchange(started_, true))
    return;
  for (auto& each : loops_)
    each->start();
}

const std::shared_ptr<asio::io_context>& io_threads::next() noexcept {
  turn_ = (turn_ + 1) % loops_.size();
  return loops_[turn_]->context();
}

void io_threads::stop() noexcept {
  for (auto& each : loops_)
    each->stop();
}

void io_threads::flush() noexcept {
  for (bool more = true; more;) { // a handler may post to a loop that has been dealt with
    more = false;
    for (auto& each : loops_)
      more = each->flush() || more;
  }
}

} // namespace pubsub
