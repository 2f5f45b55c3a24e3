// SPDX-License-Identifier: BSD-3-Clause
#include <pubsub/broker/bridge.hpp>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "broker/broker_side.hpp"
#include "broker/pairs.hpp"

namespace pubsub::broker {

namespace {

using steady = std::chrono::steady_clock;

/// Messages converted in a row before Broker gets them.
constexpr std::size_t messages_a_turn = 512;
/// How long to wait for room before looking whether the bridge is being closed.
constexpr std::chrono::milliseconds patience_with_ours{100};

expected<void> check_queue(const queue_options& options, const char* name) {
  const auto checked = pubsub::check(options);
  if (checked)
    return checked;
  return error{errc::invalid_argument, std::string{name} + ": " + checked.error().context()};
}

} // namespace

broker_side::~broker_side() = default;

expected<void> check(const bridge_options& options) {
  if (auto checked = check_queue(options.from_broker_queue, "from_broker_queue"); !checked)
    return checked;
  if (auto checked = check_queue(options.to_broker_queue, "to_broker_queue"); !checked)
    return checked;
  const auto policy = options.from_broker_queue.policy;
  if (policy == overflow_policy::conflate || policy == overflow_policy::disconnect)
    return error{errc::invalid_argument,
                 "from_broker_queue: the policy must be block, drop_oldest or drop_newest, not " +
                     std::string{to_string(policy)}};
  if (options.close_timeout < std::chrono::nanoseconds::zero())
    return error{errc::invalid_argument, "close_timeout must not be negative"};
  return {};
}

/// Two threads: one publishes what the inlet holds, one converts what a subscriber receives.
/// Nothing returns to where it came from: the publisher leaves out that subscriber, and of what the
/// network passes on, nothing goes to the endpoint that has published it; what Broker does is
/// with each `broker_side`. Where two bridges join the same two endpoints, each would take for
/// news what the other brings, so there is one (`pairs`). Where a circle of bridges and networks is
/// closed elsewhere, what the last bridge brings reaches the subscribers of one Broker endpoint,
/// and nothing behind them.
class bridge_state {
public:
  bridge_state(endpoint& ours, bridge_options options)
      : options_(std::move(options)), ours_(ours.share()),
        subscriber_(ours_->make_subscriber(options_.to_broker, options_.to_broker_queue)),
        publisher_(ours_->make_bridge_publisher(subscriber_)),
        inlet_(std::make_shared<inlet>(options_.from_broker_queue)) {}
  ~bridge_state() { close(); }

  expected<void> start(::broker::endpoint& theirs) {
    if (subscriber_.closed())
      return error{errc::shutting_down, "the endpoint is closed"};
    auto entered = join_pair({&theirs, ours_->id()}, [&] {
      return enter(theirs, options_.from_broker, inlet_, [this] { end(); });
    });
    if (!entered)
      return entered.error();
    side_ = std::move(*entered);
    try {
      inward_ = std::thread{[this] { publish_all(); }};
      outward_ = std::thread{[this] { give_all(); }};
    } catch (const std::system_error& refused) {
      return error{errc::limit_exceeded,
                   std::string{"no thread for the bridge: "} + refused.what()};
    }
    return {};
  }

  bool wait_ready(std::chrono::nanoseconds timeout) {
    const auto until = steady::now() + timeout;
    return side_->wait_ready(until) && subscriber_.wait_ready(until - steady::now()) && !closed();
  }
  bool closed() const { return ended_ || side_->gone() || subscriber_.closed(); }

  bridge_counters from_broker() const { return inlet_->counters(); }
  bridge_counters to_broker() const {
    bridge_counters result;
    const bool over = given_all_.load(std::memory_order_acquire) && (over_ || side_->gone());
    result.given = side_->given();
    result.unconvertible = side_->unconvertible();
    const auto queue = subscriber_.counters();
    result.taken = queue.offered;
    result.full =
        queue.dropped_oldest + queue.dropped_newest + queue.conflated + queue.dropped_overflow;
    result.refused = queue.decode_errors;
    result.closed = queue.dropped_closed;
    result.queued = result.taken - result.given - result.dropped();
    if (over) // what was taken from the queue and did not reach Broker any more
      result.closed += std::exchange(result.queued, 0);
    return result;
  }

  void close() {
    std::lock_guard lock{closing_};
    if (side_ == nullptr || ended_by_us_)
      return;
    ended_by_us_ = true;
    const auto until = steady::now() + options_.close_timeout;
    side_->limit(until);
    drain_subscriber(until);
    subscriber_.close();
    if (outward_.joinable())
      outward_.join();
    side_->leave(until);
    inlet_->close();
    wait_for_inlet(until);
    inlet_->discard();
    if (inward_.joinable())
      inward_.join();
    ended_ = true;
    over_ = true;
  }

private:
  /// An endpoint is gone: what comes from the other one has nowhere to go.
  void end() {
    ended_ = true;
    subscriber_.close();
    inlet_->close();
  }

  void publish_all() {
    encoded_batch batch;
    bridge_counters what;
    bool roomy = false;
    while (inlet_->next(batch, std::exchange(what, {}), roomy)) {
      if (std::exchange(roomy, false))
        side_->resume();
      for (; !batch.empty() && publish(batch, what); batch.pop()) {
      }
    }
    std::lock_guard lock{mutex_};
    published_all_ = true;
    changed_.notify_all();
  }
  /// The first message of the batch. False if it cannot be published any more.
  bool publish(const encoded_batch& batch, bridge_counters& what) {
    while (!inlet_->discarded()) {
      switch (publisher_.publish_for(batch.topic(), batch.value(), patience_with_ours)) {
      case publish_result::unwanted:
        ++what.unwanted;
        [[fallthrough]];
      case publish_result::taken:
      case publish_result::dropped:
        return ++what.given, true;
      case publish_result::refused:
        return count_refused(what);
      case publish_result::would_block:
        break;
      }
    }
    return false;
  }
  bool count_refused(bridge_counters& what) {
    if (publisher_.counters().refused_closed == 0)
      return ++what.refused, true;
    ended_ = true;
    inlet_->discard();
    return false;
  }

  void give_all() {
    std::vector<data_message> messages;
    while (subscriber_.get_batch_for(messages, messages_a_turn, std::chrono::hours{1}) !=
           receive_status::closed) {
      if (!messages.empty() && !side_->give(messages))
        break;
      messages.clear();
      turn_is_over();
    }
    subscriber_.close();
    given_all_.store(true, std::memory_order_release);
    turn_is_over();
  }

  void turn_is_over() {
    std::lock_guard lock{mutex_};
    changed_.notify_all();
  }
  /// What is in the queue now has been taken out, or the deadline is over.
  void drain_subscriber(steady::time_point until) {
    const auto before = subscriber_.counters();
    const auto last = before.offered;
    std::unique_lock lock{mutex_};
    changed_.wait_until(lock, until, [&] {
      const auto now = subscriber_.counters();
      return given_all_ || now.delivered + now.dropped() >= last;
    });
  }
  void wait_for_inlet(steady::time_point until) {
    std::unique_lock lock{mutex_};
    changed_.wait_until(lock, until, [this] { return published_all_; });
  }

  const bridge_options options_;
  const std::shared_ptr<endpoint> ours_;
  subscriber subscriber_;
  bridge_publisher publisher_; // of inward_
  const std::shared_ptr<inlet> inlet_;
  std::shared_ptr<broker_side> side_;
  std::atomic<bool> ended_{false};
  std::atomic<bool> given_all_{false}; // outward_ has ended
  std::atomic<bool> over_{false};      // the bridge is closed
  bool ended_by_us_ = false;           // guarded by closing_
  std::mutex closing_;                 // one thread closes
  std::mutex mutex_;                   // guards the following
  std::condition_variable changed_;
  bool published_all_ = false;
  std::thread inward_;
  std::thread outward_;
};

bridge::bridge(std::unique_ptr<bridge_state> made) : state_(std::move(made)) {}
bridge::bridge(bridge&&) noexcept = default;
bridge& bridge::operator=(bridge&&) noexcept = default;
bridge::~bridge() = default;

expected<bridge> bridge::open(::broker::endpoint& theirs, endpoint& ours, bridge_options options) {
  if (auto checked = check(options); !checked)
    return checked.error();
  auto made = std::make_unique<bridge_state>(ours, std::move(options));
  if (auto started = made->start(theirs); !started)
    return started.error();
  return bridge{std::move(made)};
}

bool bridge::wait_ready(std::chrono::nanoseconds timeout) {
  return state_->wait_ready(timeout);
}
bridge_counters bridge::from_broker() const {
  return state_->from_broker();
}
bridge_counters bridge::to_broker() const {
  return state_->to_broker();
}
bool bridge::closed() const {
  return state_->closed();
}
void bridge::close() {
  state_->close();
}

} // namespace pubsub::broker
