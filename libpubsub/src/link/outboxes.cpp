#include "link/outboxes.hpp"

#include <algorithm>

#include "base/counter_sums.hpp"

namespace pubsub {

outboxes::outboxes(const queue_options& options, outbox::callbacks calls)
    : options_(options), calls_(std::move(calls)), control_({}, calls_), last_({}, calls_) {
  out();
}

outbox& outboxes::out(std::size_t hops) {
  hops = std::min(hops, wire::max_hops - 1);
  if (auto* const found = by_hops_[hops].load(std::memory_order_acquire))
    return *found;
  std::lock_guard lock{mutex_};
  auto& place = owned_[hops];
  if (!place) {
    place = std::make_unique<outbox>(options_, calls_, hops > 0 ? &relayed_ : nullptr);
    if (closed_)
      place->close();
    by_hops_[hops].store(place.get(), std::memory_order_release);
  }
  return *place;
}

template <class Visitor>
void outboxes::visit(Visitor&& each) const {
  for (const auto& place : by_hops_)
    if (auto* const found = place.load(std::memory_order_acquire))
      each(*found);
}

void outboxes::close_all() {
  std::unique_lock lock{mutex_};
  closed_ = true;
  lock.unlock();
  control_.close();
  last_.close();
  visit([](outbox& each) { each.close(); });
}

std::size_t outboxes::wait_until_empty(std::chrono::steady_clock::time_point until) const {
  std::size_t left = 0;
  visit([&](outbox& each) { left += each.wait_until_empty(until); });
  return left;
}

link_counters outboxes::counters() const {
  link_counters sum;
  visit([&](const outbox& each) { add_to(sum, each.counters()); });
  return sum;
}

} // namespace pubsub
