// SPDX-License-Identifier: BSD-3-Clause
#include "pattern/mailbox/mailbox.hpp"

#include "support/eventually.hpp"

#include <pubsub/data_message.hpp>
#include <pubsub/endpoint.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <thread>
#include <vector>

using namespace pubsub;
using namespace pubsub::test;
using namespace pubsub::pattern;
using namespace std::chrono_literals;

namespace {

/// Counts what it reads, and its ticks.
class counting_mailbox final : private mailbox {
public:
  explicit counting_mailbox(endpoint& at, bool reads_alone = true, time first_tick = time::max())
      : next_tick_(first_tick) {
    start(at.make_subscriber(filter{"a"}),
          reads_alone ? own_reading::when_no_thread_waits : own_reading::when_due);
  }
  ~counting_mailbox() override { stop(); }

  bool wait_for(std::size_t messages, std::optional<std::chrono::nanoseconds> timeout) {
    lock_type lock{mutex_};
    return wait(lock, limit_after(timeout), [&] { return messages_ >= messages; });
  }
  void look_once() {
    lock_type lock{mutex_};
    look(lock);
  }
  std::size_t messages() const {
    const lock_type lock{mutex_};
    return messages_;
  }
  std::size_t ticks() const {
    const lock_type lock{mutex_};
    return ticks_;
  }
  bool closed() const {
    const lock_type lock{mutex_};
    return closed_;
  }
  void set_full(bool full) {
    const lock_type lock{mutex_};
    full_ = full;
  }
  void tick_at(time when) {
    const lock_type lock{mutex_};
    next_tick_ = when;
    wake();
  }
  void close() { stop(); }
  std::size_t finish_and_count() {
    finish();
    return take_unread().size();
  }

private:
  void take(std::span<data_message> messages, time) override { messages_ += messages.size(); }
  void tick(time) override {
    ++ticks_;
    next_tick_ = time::max();
  }
  time next_tick() const override { return next_tick_; }
  bool has_room() const override { return !full_; }

  std::size_t messages_ = 0;
  std::size_t ticks_ = 0;
  time next_tick_;
  bool full_ = false;
};

void publish(endpoint& ep, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i)
    (void)ep.publish("a", data{i});
}

} // namespace

TEST_CASE("a wait ends when its condition is met, and at its timeout where it is not") {
  endpoint ep;
  counting_mailbox box{ep};
  CHECK_FALSE(box.wait_for(1, 1ms));
  publish(ep, 3);
  CHECK(box.wait_for(3, patience));
  CHECK_FALSE(box.wait_for(4, 0ns));
}

TEST_CASE("every thread that waits gets what it waits for, whichever of them reads") {
  endpoint ep;
  counting_mailbox box{ep, false};
  std::vector<std::thread> waiting;
  std::atomic<std::size_t> met{0};
  for (std::size_t n = 1; n <= 4; ++n)
    waiting.emplace_back([&, n] { met += box.wait_for(10 * n, {}) ? 1 : 0; });
  publish(ep, 40);
  for (auto& each : waiting)
    each.join();
  CHECK(met == 4);
}

TEST_CASE("messages are read where no thread waits, unless other threads come for them") {
  endpoint ep;
  counting_mailbox alone{ep};
  counting_mailbox visited{ep, false};
  publish(ep, 5);
  CHECK(eventually([&] { return alone.messages() == 5; }));
  CHECK(visited.messages() == 0);
  visited.look_once();
  CHECK(visited.messages() == 5);
}

TEST_CASE("a mailbox that is full reads nothing until it has room") {
  endpoint ep;
  counting_mailbox box{ep, false};
  box.set_full(true);
  publish(ep, 1);
  box.look_once();
  CHECK(box.messages() == 0);
  box.set_full(false);
  box.look_once();
  CHECK(box.messages() == 1);
}

TEST_CASE("a tick comes when it is due, whether a thread waits or not") {
  endpoint ep;
  counting_mailbox box{ep, false, std::chrono::steady_clock::now()};
  CHECK(eventually([&] { return box.ticks() == 1; }));
  box.tick_at(std::chrono::steady_clock::now());
  CHECK(eventually([&] { return box.ticks() == 2; }));
  std::thread waiting{[&] { CHECK_FALSE(box.wait_for(1, {})); }};
  box.tick_at(std::chrono::steady_clock::now());
  CHECK(eventually([&] { return box.ticks() == 3; }));
  box.close();
  waiting.join();
}

TEST_CASE("closing ends all waits") {
  endpoint ep;
  counting_mailbox box{ep};
  std::thread waiting[] = {std::thread{[&] { CHECK_FALSE(box.wait_for(1, {})); }},
                           std::thread{[&] { CHECK_FALSE(box.wait_for(2, 1h)); }}};
  box.close();
  for (auto& each : waiting)
    each.join();
  CHECK(box.closed());
  CHECK_FALSE(box.wait_for(0, {}));
  box.close();
}

TEST_CASE("a mailbox whose endpoint is closed ends by itself") {
  endpoint ep;
  counting_mailbox box{ep};
  std::thread waiting{[&] { CHECK_FALSE(box.wait_for(1, {})); }};
  ep.close();
  waiting.join();
  CHECK(box.closed());
}

TEST_CASE("what is unread when a mailbox finishes can still be taken") {
  endpoint ep;
  counting_mailbox box{ep, false};
  publish(ep, 2);
  CHECK(box.finish_and_count() == 2);
}
