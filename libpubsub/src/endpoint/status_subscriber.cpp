#include <pubsub/status_subscriber.hpp>

#include "node/peering/status_queue.hpp"

namespace pubsub {

status_subscriber::status_subscriber(std::shared_ptr<status_queue> queue)
    : queue_(std::move(queue)) {}
status_subscriber::status_subscriber(status_subscriber&&) noexcept = default;
status_subscriber& status_subscriber::operator=(status_subscriber&&) noexcept = default;
status_subscriber::~status_subscriber() = default;

received<status> status_subscriber::get() {
  return queue_->pull({});
}
received<status> status_subscriber::get_for(std::chrono::nanoseconds timeout) {
  return queue_->pull(deadline_after(timeout));
}
received<status> status_subscriber::try_get() {
  return queue_->pull(immediately());
}
int status_subscriber::fd() const {
  return queue_->fd();
}
std::size_t status_subscriber::available() const {
  return queue_->size();
}
std::uint64_t status_subscriber::dropped() const {
  return queue_->dropped();
}

} // namespace pubsub
