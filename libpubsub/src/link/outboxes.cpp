#include "link/outboxes.hpp"

#include <algorithm>

namespace pubsub {

outboxes::outboxes(const queue_options& options, outbox::callbacks calls)
    : options_(options), calls_(std::move(calls)), control_({}, calls_), last_({}, calls_) {
  credit_.fill(wire::first_credit_bytes);
  of(0);
}

outbox& outboxes::of(std::size_t hops) {
  hops = std::min(hops, wire::max_hops - 1);
  if (auto* const found = by_hops_[hops].load(std::memory_order_acquire))
    return *found;
  std::lock_guard lock{mutex_};
  auto& place = owned_[hops];
  if (!place) {
    place = std::make_unique<outbox>(options_, calls_);
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

std::uint16_t outboxes::hops_in_use() const noexcept {
  unsigned bits = 0;
  for (std::size_t hops = 0; hops < by_hops_.size(); ++hops)
    bits |= by_hops_[hops].load(std::memory_order_acquire) != nullptr ? 1U << hops : 0U;
  return static_cast<std::uint16_t>(bits);
}

// -- control frames ------------------------------------------------------------------------------

void outboxes::push_control(std::span<const std::byte> frame) {
  (with_credit_ ? control_ : of(0)).push_control(frame);
}

void outboxes::push_last(std::span<const std::byte> frame) {
  (with_credit_ ? last_ : of(0)).push_control(frame);
}

std::size_t outboxes::control_bytes() const {
  return (with_credit_ ? control_ : *by_hops_[0].load(std::memory_order_acquire)).control_bytes();
}

// -- the writer ----------------------------------------------------------------------------------

void outboxes::use_credit() {
  with_credit_ = true;
}

void outboxes::grant(std::size_t hops, std::uint32_t bytes) noexcept {
  auto& credit = credit_[std::min(hops, wire::max_hops - 1)];
  credit = std::min(credit + bytes, most_credit);
}

void outboxes::take(std::vector<outgoing_slice>& out, std::size_t max_slices,
                    std::size_t max_bytes) {
  if (with_credit_) {
    if (!handshake_taken_)
      take_handshake(out, max_slices, max_bytes);
    take_from(control_, 0, out, max_slices, max_bytes);
  }
  bool more = false;
  take_messages(out, max_slices, max_bytes, more);
  if (out.empty() && !more)
    take_from(last_, 0, out, max_slices, max_bytes);
}

/// The frames of the handshake went to the only outbox there was then.
void outboxes::take_handshake(std::vector<outgoing_slice>& out, std::size_t max_slices,
                              std::size_t max_bytes) {
  handshake_taken_ = of(0).control_bytes() == 0;
  if (!handshake_taken_)
    credit_[0] -= static_cast<std::int64_t>(take_from(of(0), 0, out, max_slices, max_bytes));
}

/// `more`: there may be messages for which the peer has given no credit.
std::size_t outboxes::take_messages(std::vector<outgoing_slice>& out, std::size_t max_slices,
                                    std::size_t max_bytes, bool& more) {
  std::size_t total = 0;
  const auto first = next_++;
  for (std::size_t i = 0; i < wire::max_hops && out.size() < max_slices && total < max_bytes; ++i) {
    const auto hops = (first + i) % wire::max_hops;
    auto* const from = by_hops_[hops].load(std::memory_order_acquire);
    if (from == nullptr)
      continue;
    auto limit = max_bytes - total;
    if (with_credit_ && credit_[hops] <= 0) {
      more = true;
      continue;
    }
    if (with_credit_)
      limit = std::min(limit, static_cast<std::size_t>(credit_[hops]));
    const auto taken = take_from(*from, hops, out, max_slices, limit);
    credit_[hops] -= with_credit_ ? static_cast<std::int64_t>(taken) : 0;
    total += taken;
  }
  return total;
}

/// Returns the bytes of messages taken.
std::size_t outboxes::take_from(outbox& from, std::size_t hops, std::vector<outgoing_slice>& out,
                                std::size_t max_slices, std::size_t max_bytes) {
  from.take(slices_, max_slices - out.size(), max_bytes);
  std::size_t total = 0;
  for (auto& each : slices_) {
    total += each.run->has_records() ? each.size.bytes : 0; // only they need credit
    out.push_back({std::move(each), hops});
  }
  slices_.clear();
  return total;
}

// -- all of them ---------------------------------------------------------------------------------

void outboxes::close() {
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
  visit([&](const outbox& each) {
    const auto x = each.counters();
    sum.offered += x.offered;
    sum.sent += x.sent;
    sum.queued += x.queued;
    sum.dropped_oldest += x.dropped_oldest;
    sum.dropped_newest += x.dropped_newest;
    sum.dropped_gone += x.dropped_gone;
    sum.conflated += x.conflated;
    sum.dropped_overflow += x.dropped_overflow;
  });
  return sum;
}

} // namespace pubsub
