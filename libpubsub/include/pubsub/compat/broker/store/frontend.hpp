// A master or a clone of one of Broker's stores at work: its locks, its thread, its messages.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <iterator>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <pubsub/compat/broker/store/clone.hpp>
#include <pubsub/compat/broker/store/mailbox.hpp>
#include <pubsub/compat/broker/store/master.hpp>
#include <pubsub/compat/broker/subscriber.hpp>
#include <pubsub/compat/broker/waiting.hpp>
#include <pubsub/compat/broker/worker.hpp>
#include <pubsub/endpoint.hpp>

namespace broker {
inline namespace over_pubsub {
namespace detail {

/// What the handles of a store call, from any thread. Answers are given without a lock, by the
/// caller or by the thread of the store.
class store_frontend {
public:
  explicit store_frontend(std::string name) : name_(std::move(name)) {}
  store_frontend(const store_frontend&) = delete;
  store_frontend& operator=(const store_frontend&) = delete;
  virtual ~store_frontend() = default;

  const std::string& name() const noexcept { return name_; }
  virtual bool is_master() const noexcept = 0;
  virtual bool stopped() const = 0;
  virtual void ask(store_query query, store_answer to) = 0;
  virtual void submit(store_command command, store_answer to) = 0;
  virtual bool await_idle(timespan timeout) = 0;
  /// This is closed when the store is.
  virtual void closes(std::weak_ptr<store_responses> responses) = 0;
  /// Ends the thread, and answers what is still asked.
  virtual void stop() = 0;

private:
  std::string name_;
};

/// How a master and a clone differ in what they need of their thread.
template <class Machine>
struct store_traits;

/// A master waits for peers that do not keep up, as `publish` does.
template <>
struct store_traits<store_master> {
  static constexpr bool is_master = true;
  static void send(pubsub::bridge_publisher& out, const store_message& x) {
    static_cast<void>(out.publish(x.topic, x.content.bytes()));
  }
  static pubsub::filter topics(const store_master& x) { return {x.topics().master}; }
  static bool has_room(const store_master&) { return true; }
  static bool idle(const store_master& x, store_time now) { return x.idle(now); }
  static void hasten(store_master& x, store_time now, store_effects& out) { x.say_alive(now, out); }
  static void end(store_master&, store_effects&) {}
};

/// A clone never waits, so that it always takes what its master sends: it sends again what was not
/// taken.
template <>
struct store_traits<store_clone> {
  static constexpr bool is_master = false;
  static void send(pubsub::bridge_publisher& out, const store_message& x) {
    static_cast<void>(out.try_publish(x.topic, x.content.bytes()));
  }
  static pubsub::filter topics(const store_clone& x) { return {x.topics().clones, x.own_topic()}; }
  static bool has_room(const store_clone& x) { return x.has_room(); }
  static bool idle(const store_clone& x, store_time) { return x.idle(); }
  static void hasten(store_clone&, store_time, store_effects&) {}
  static void end(store_clone& x, store_effects& out) { x.end(out); }
};

/// A machine, which knows no threads, with what it takes to use it from several. Two locks: one
/// for the machine, one for sending, so that threads which only read do not wait while a message is
/// sent.
template <class Machine>
class running_store : public store_frontend {
  using traits = store_traits<Machine>;
  using clock = std::chrono::steady_clock;

public:
  /// `make`: returns the machine; called with the effects of its beginning.
  template <class Make>
  running_store(std::shared_ptr<pubsub::endpoint> node, const std::string& name, Make&& make)
      : store_frontend(name), node_(std::move(node)), machine_(make(effects_)),
        topics_(traits::topics(machine_)), inbox_(node_->make_subscriber(topics_, inbox_options())),
        out_(node_->make_bridge_publisher(inbox_)),
        thread_([this] { run(); }, [this] { inbox_.close(); }) {}
  ~running_store() override { running_store::stop(); }

  bool is_master() const noexcept override { return traits::is_master; }
  bool stopped() const override {
    const std::lock_guard lock{machine_mutex_};
    return stopped_;
  }
  void ask(store_query query, store_answer to) override {
    store_effects answers; // not behind messages that wait to be sent
    {
      const std::lock_guard lock{machine_mutex_};
      if (stopped_)
        answers.answer(std::move(to), ec::shutting_down);
      else
        machine_.ask(std::move(query), std::move(to), clock::now(), answers);
    }
    for (const auto& each : answers.calls)
      each();
  }
  void submit(store_command command, store_answer to) override {
    {
      std::unique_lock lock{machine_mutex_};
      changed_.wait(lock, [this] { return stopped_ || traits::has_room(machine_); });
      if (stopped_)
        effects_.answer(std::move(to), ec::shutting_down);
      else
        machine_.submit(command, std::move(to), clock::now(), effects_);
    }
    carry_out();
  }
  bool await_idle(timespan timeout) override {
    const auto end = deadline_of(timeout);
    {
      const std::lock_guard lock{machine_mutex_};
      traits::hasten(machine_, clock::now(), effects_);
    }
    carry_out();
    std::unique_lock lock{machine_mutex_};
    const auto done = [this] { return stopped_ || traits::idle(machine_, clock::now()); };
    if (end)
      changed_.wait_until(lock, *end, done);
    else
      changed_.wait(lock, done);
    return !stopped_ && traits::idle(machine_, clock::now());
  }
  void closes(std::weak_ptr<store_responses> responses) override {
    const std::lock_guard lock{machine_mutex_};
    std::erase_if(mailboxes_, [](const auto& each) { return each.expired(); });
    if (!stopped_)
      mailboxes_.push_back(std::move(responses));
    else if (const auto closed = responses.lock())
      closed->close();
  }
  void stop() override { thread_.stop(); }

private:
  static pubsub::queue_options inbox_options() {
    pubsub::queue_options result;
    result.capacity_messages = queue_messages;
    result.capacity_bytes = queue_bytes;
    return result;
  }

  void run() {
    run_guarded([this] { serve(); }, [this](const error&) { finish(); });
  }
  void serve() {
    // What a clone asks first is answered on a topic that its master should have heard of by then.
    static_cast<void>(inbox_.wait_ready(snapshot_wait));
    std::vector<pubsub::data_message> batch;
    for (auto status = pubsub::receive_status::timeout; status != pubsub::receive_status::closed;) {
      batch.clear();
      status = inbox_.get_batch_for(batch, 256, std::chrono::milliseconds{100});
      receive(batch);
      carry_out();
    }
  }
  void receive(const std::vector<pubsub::data_message>& batch) {
    std::vector<data> contents;
    for (const auto& each : batch) // a topic that only begins like one of ours is of another store
      if (std::find(topics_.begin(), topics_.end(), pubsub::get_topic(each)) != topics_.end())
        contents.push_back(decode(pubsub::get_view(each)));
    const std::lock_guard lock{machine_mutex_};
    const auto now = clock::now();
    for (const auto& each : contents)
      machine_.receive(each, now, effects_);
    machine_.tick(now, effects_);
    changed_.notify_all();
  }
  void finish() {
    std::vector<std::weak_ptr<store_responses>> mailboxes;
    {
      const std::lock_guard lock{machine_mutex_};
      stopped_ = true;
      traits::end(machine_, effects_);
      mailboxes.swap(mailboxes_);
      changed_.notify_all();
    }
    carry_out();
    for (const auto& each : mailboxes)
      if (const auto open = each.lock())
        open->close();
  }

  /// Sends what the machine wants sent, in this order, then gives answers.
  void carry_out() {
    std::vector<std::function<void()>> calls;
    if (has_messages()) {
      const std::lock_guard order{sending_mutex_};
      for (auto todo = take_effects(); !todo.empty(); todo = take_effects()) {
        for (const auto& each : todo.messages)
          traits::send(out_, each);
        std::move(todo.calls.begin(), todo.calls.end(), std::back_inserter(calls));
      }
    } else {
      calls = take_calls();
    }
    for (const auto& each : calls)
      each();
  }
  bool has_messages() const {
    const std::lock_guard lock{machine_mutex_};
    return !effects_.messages.empty();
  }
  store_effects take_effects() {
    const std::lock_guard lock{machine_mutex_};
    return std::exchange(effects_, {});
  }
  std::vector<std::function<void()>> take_calls() {
    const std::lock_guard lock{machine_mutex_};
    return std::exchange(effects_.calls, {});
  }

  const std::shared_ptr<pubsub::endpoint> node_;
  mutable std::mutex machine_mutex_; // guards what follows
  store_effects effects_;
  Machine machine_;
  bool stopped_ = false;
  std::vector<std::weak_ptr<store_responses>> mailboxes_;
  std::condition_variable changed_; // on messages, on their absence for a while, and at the end

  const pubsub::filter topics_;
  pubsub::subscriber inbox_;
  std::mutex sending_mutex_; // guards out_; locked before the other
  pubsub::bridge_publisher out_;
  background thread_; // the last member: uses all others
};

using running_master = running_store<store_master>;
using running_clone = running_store<store_clone>;

} // namespace detail
} // namespace over_pubsub
} // namespace broker
