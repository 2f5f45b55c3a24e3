#include "pattern/remote/reply_outbox.hpp"

#include <algorithm>
#include <utility>

namespace pubsub::pattern {

publish_result reply_outbox::publish(std::span<const std::byte> message, time until) {
  const auto patience = until == time{} ? time::duration{0} : until - time::clock::now();
  return to_.publish_encoded(message, std::max(patience, time::duration{0}));
}

reply_outbox::outcome reply_outbox::send(std::span<const std::byte> message) {
  const std::lock_guard lock{mutex_};
  if (kept_.empty()) {
    const auto result = publish(message);
    if (result == publish_result::refused) {
      const auto before = std::exchange(refused_, to_.counters().refused_size);
      return refused_ > before ? outcome::too_long : outcome::sent; // or the endpoint is closed
    }
    if (result != publish_result::would_block)
      return outcome::sent; // or nobody is there
  }
  kept_.emplace_back(message.begin(), message.end());
  kept_bytes_ += message.size();
  return outcome::kept;
}

void reply_outbox::try_send(std::span<const std::byte> message) {
  const std::unique_lock lock{mutex_, std::try_to_lock};
  if (lock && kept_.empty())
    (void)publish(message);
}

bool reply_outbox::flush(time until) {
  const std::lock_guard lock{mutex_};
  while (!kept_.empty() && publish(kept_.front(), until) != publish_result::would_block) {
    kept_bytes_ -= kept_.front().size();
    kept_.pop_front();
  }
  return kept_.empty();
}

std::size_t reply_outbox::kept_bytes() const {
  const std::lock_guard lock{mutex_};
  return kept_bytes_;
}

std::optional<reply_outbox::time> reply_outbox::gone_since(time now) {
  const std::lock_guard lock{mutex_};
  if (to_.subscribers() > 0)
    gone_since_.reset();
  else if (!gone_since_)
    gone_since_ = now;
  return gone_since_;
}

} // namespace pubsub::pattern
