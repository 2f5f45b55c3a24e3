// What waits to be written to one link, by how far it has come.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <span>
#include <utility>

#include <pubsub/counters.hpp>

#include "base/counter_sums.hpp"
#include "queue/outbox.hpp"
#include "wire/native/batch.hpp"

namespace pubsub {

/// One outbox for what this node publishes, and one for each number of hops that messages have come
/// so far, so that full queues cannot wait for one another in a circle: a message that has come n
/// hops waits for room only among those that have come n + 1. The bounds hold once for what this
/// node publishes, and once for all that it relays. Two more outboxes hold control frames, before
/// and behind all messages. In version 1 there is one for everything. Thread-safe.
class outboxes {
public:
  outboxes(const queue_options& options, outbox::callbacks calls)
      : options_(options), calls_(std::move(calls)), control_({}, calls_) {}

  /// For messages that have come so many hops; made when first asked for.
  outbox& out(std::size_t hops = 0) const {
    const bool one = control_waits_behind_messages() || has_one_place();
    return at(one ? 0 : std::min(hops, wire::max_hops - 1));
  }
  /// The same, or null if it was not asked for so far.
  outbox* find(std::size_t hops) const noexcept {
    return places_[hops].load(std::memory_order_acquire);
  }

  /// Before all messages; in version 1 behind those that wait.
  void push_control(std::span<const std::byte> frame) { control_place()->push_control(frame); }
  /// Behind all messages that wait.
  void push_last(std::span<const std::byte> frame) {
    (control_waits_behind_messages() ? out() : at(behind_all)).push_control(frame);
  }
  /// As version 1 has it: then the answer to a ping says that the messages before it were read, and
  /// a peer that reads none cannot answer.
  bool control_waits_behind_messages() const noexcept {
    return one_for_all_.load(std::memory_order_acquire);
  }
  /// Of control frames that wait.
  std::size_t control_bytes() const { return control_place()->control_bytes(); }

  queue_options options() const {
    std::lock_guard lock{mutex_};
    return options_;
  }
  /// Before there are messages: less may wait.
  void limit_bytes(std::size_t most) {
    std::lock_guard lock{mutex_};
    options_.capacity_bytes = std::min(options_.capacity_bytes, most);
  }
  /// From now on control frames wait among the messages.
  void use_one_for_all() noexcept { one_for_all_.store(true, std::memory_order_release); }
  /// From now on messages wait in one place, however far they have come, and so stay in order: the
  /// peer is a client, which passes nothing on, and for which relays wait in no circle. It is made
  /// at once: the first message on a topic that thousands of clients want finds it there.
  void use_one_place() {
    one_place_.store(true, std::memory_order_release);
    out();
  }
  bool has_one_place() const noexcept { return one_place_.load(std::memory_order_acquire); }
  outbox& control() noexcept { return control_; }
  /// Null if nothing was ever pushed behind all messages.
  outbox* last() const noexcept { return find(behind_all); }

  /// Nothing is taken any more.
  void close_all() {
    std::unique_lock lock{mutex_};
    closed_ = true;
    lock.unlock();
    control_.close();
    visit([](outbox& each) { each.close(); });
  }
  std::size_t wait_until_empty(std::chrono::steady_clock::time_point until) const {
    std::size_t left = 0;
    visit([&](outbox& each) { left += each.wait_until_empty(until); });
    return left;
  }
  /// Messages wait because the peer has given no credit for more.
  void count_credit_wait() noexcept { credit_waits_.fetch_add(1, std::memory_order_relaxed); }
  link_counters counters() const {
    link_counters sum{.credit_waits = credit_waits_.load(std::memory_order_relaxed)};
    visit([&](const outbox& each) { add_to(sum, each.counters()); });
    return sum;
  }

private:
  static constexpr std::size_t behind_all = wire::max_hops; // a place of its own

  outbox& at(std::size_t place) const {
    if (auto* const found = places_[place].load(std::memory_order_acquire))
      return *found;
    std::lock_guard lock{mutex_};
    auto& made = owned_[place];
    if (!made) {
      const bool relayed = place > 0 && place < behind_all;
      made = std::make_unique<outbox>(place < behind_all ? options_ : queue_options{}, calls_,
                                      relayed ? &relayed_ : nullptr);
      if (closed_)
        made->close();
      places_[place].store(made.get(), std::memory_order_release);
    }
    return *made;
  }
  template <class Visitor>
  void visit(Visitor&& each) const {
    for (const auto& place : places_)
      if (auto* const found = place.load(std::memory_order_acquire))
        each(*found);
  }
  outbox* control_place() const noexcept {
    return control_waits_behind_messages() ? &out() : &control_;
  }

  queue_options options_;
  const outbox::callbacks calls_;
  mutable outbox control_;
  std::atomic<bool> one_for_all_{false};
  std::atomic<bool> one_place_{false};
  std::atomic<std::uint64_t> credit_waits_{0};

  mutable shared_bounds relayed_; // what the outboxes of relayed messages hold
  mutable std::mutex mutex_;      // guards options_ and what follows, except for reading places_
  mutable std::array<std::unique_ptr<outbox>, behind_all + 1> owned_;
  bool closed_ = false;
  mutable std::array<std::atomic<outbox*>, behind_all + 1> places_{};
};

} // namespace pubsub
