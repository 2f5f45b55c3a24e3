#include "pattern/remote/reply_outbox.hpp"

#include <algorithm>

namespace pubsub::pattern {

reply_outbox::outcome reply_outbox::send(std::span<const std::byte> message) {
  const std::lock_guard lock{mutex_};
  if (kept_.empty()) {
    const auto result = to_.send(message);
    if (result == partner::outcome::too_long)
      return outcome::too_long;
    if (result != partner::outcome::full)
      return outcome::sent; // or no client is there to read it
  }
  kept_.emplace_back(message.begin(), message.end());
  kept_bytes_ += message.size();
  return outcome::kept;
}

void reply_outbox::try_send(std::span<const std::byte> message) {
  const std::unique_lock lock{mutex_, std::try_to_lock};
  if (lock && kept_.empty())
    to_.send(message);
}

bool reply_outbox::flush(time until) {
  const std::lock_guard lock{mutex_};
  const auto patience = [&] { return std::max(until - time::clock::now(), time::duration{0}); };
  while (!kept_.empty() && to_.send(kept_.front(), patience()) != partner::outcome::full) {
    kept_bytes_ -= kept_.front().size();
    kept_.pop_front();
  }
  return kept_.empty();
}

std::size_t reply_outbox::kept_bytes() const {
  const std::lock_guard lock{mutex_};
  return kept_bytes_;
}

bool reply_outbox::is_within_reach(time now) {
  const std::lock_guard lock{mutex_};
  to_.look(now);
  return to_.is_within_reach();
}

bool reply_outbox::is_forgotten(time now) {
  const std::lock_guard lock{mutex_};
  to_.look(now);
  return to_.is_forgotten(now);
}

} // namespace pubsub::pattern
