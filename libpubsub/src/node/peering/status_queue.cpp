#include "node/peering/status_queue.hpp"

namespace pubsub {

void status_queue::push(const status& event) {
  if (which_ == status_events::errors && !event.is_error())
    return;
  {
    std::lock_guard lock{mutex_};
    if (finished_)
      return;
    if (events_.size() == capacity) {
      events_.pop_front();
      ++dropped_;
    }
    events_.push_back(event);
    fd_.set();
  }
  not_empty_.notify_one();
}

received<status> status_queue::pull(const deadline& until) {
  std::unique_lock lock{mutex_};
  wait_until(not_empty_, lock, until, [&] { return finished_ || !events_.empty(); });
  if (events_.empty())
    return finished_ ? receive_status::closed : receive_status::timeout;
  auto result = std::move(events_.front());
  events_.pop_front();
  if (events_.empty() && !finished_)
    fd_.clear();
  return result;
}

void status_queue::finish() {
  {
    std::lock_guard lock{mutex_};
    finished_ = true;
    fd_.set();
  }
  not_empty_.notify_all();
}

int status_queue::fd() {
  std::lock_guard lock{mutex_};
  return fd_.open(finished_ || !events_.empty());
}

std::size_t status_queue::size() const {
  std::lock_guard lock{mutex_};
  return events_.size();
}

std::uint64_t status_queue::dropped() const {
  std::lock_guard lock{mutex_};
  return dropped_;
}

std::shared_ptr<status_queue> status_hub::subscribe(status_events which) {
  auto result = std::make_shared<status_queue>(which);
  std::lock_guard lock{mutex_};
  if (finished_)
    result->finish();
  std::erase_if(queues_, [](const auto& each) { return each.expired(); });
  queues_.push_back(result);
  return result;
}

void status_hub::publish(const status& event) {
  std::lock_guard lock{mutex_};
  for (const auto& each : queues_)
    if (auto queue = each.lock())
      queue->push(event);
}

void status_hub::finish() {
  std::lock_guard lock{mutex_};
  finished_ = true;
  for (const auto& each : queues_)
    if (auto queue = each.lock())
      queue->finish();
}

} // namespace pubsub
