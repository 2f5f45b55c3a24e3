// An exchange and its endpoint: sends tasks, hears what became of them.
#pragma once

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include <pubsub/endpoint.hpp>
#include <pubsub/publisher.hpp>
#include <pubsub/subscriber.hpp>

#include "pattern/mailbox/time_limit.hpp"
#include "pattern/pipeline/dispatch.hpp"
#include "pattern/pipeline/task_queue_core.hpp"

namespace pubsub::pattern {

/// Senders share out what they send; a thread of its own hears reports, shares out what waits, and
/// looks after queues. Thread-safe.
class exchange_core {
public:
  using time = std::chrono::steady_clock::time_point;

  exchange_core(endpoint& at, std::string_view name, const exchange_options& options);
  ~exchange_core() { close(); }

  void bind(std::string_view queue_name);
  /// Without a timeout as long as it takes. False at its end, or once closed.
  bool send(std::span<const std::byte> value, std::optional<std::chrono::nanoseconds> timeout);
  /// Values one behind the other.
  bool send_batch(std::span<const std::byte> values);
  /// Results of as many tasks; returns how many were sent before it was closed.
  std::size_t send_results(std::span<const std::byte> values, std::span<const task_marks> of);
  void flush();
  std::size_t drain(std::chrono::nanoseconds timeout);
  bool wait_for_queues(std::size_t n, std::chrono::nanoseconds timeout);
  std::size_t queues() const;
  const endpoint_id& id() const noexcept { return id_; }
  exchange_counters counters() const;
  std::size_t in_flight() const;
  void close();
  bool closed() const {
    std::lock_guard lock{mutex_};
    return closed_;
  }
  error failure() const {
    std::lock_guard lock{mutex_};
    return failure_;
  }

private:
  using lock_type = std::unique_lock<std::mutex>;
  struct queue_link {
    publisher out;
    bool seen = false; // it was within reach
  };

  template <class Condition>
  bool wait(lock_type& lock, time_limit until, Condition&& met);
  void read(lock_type& lock, std::chrono::nanoseconds limit);
  bool await_room(lock_type& lock, std::optional<std::chrono::nanoseconds> timeout);
  std::size_t add_results(std::span<const std::byte>& values, const task_marks& of,
                          std::uint64_t first);
  std::size_t add(new_tasks kind, std::span<const std::byte>& values, std::size_t most);
  void begin_batch();
  void share_out();
  void listen(lock_type& lock, time until);
  void acknowledge(lock_type& lock);
  void bury(lock_type& lock);
  void send_dead(const task_batch& single);
  queue_link& link_to(const endpoint_id& queue);
  void receive(const data_message& msg, time now);
  void welcome(queue_link& queue);
  void look_after_queues(time now);
  void invite();
  void claim_name();
  void contest(const claim& other);
  void tell_progress();
  void run();

  endpoint& at_;
  const exchange_options options_;
  const endpoint_id id_ = endpoint_id::random();
  const std::string name_;
  const std::string named_topic_; // empty: it has no name
  const time begun_ = std::chrono::steady_clock::now();
  subscriber in_;

  mutable std::mutex mutex_;     // guards what follows, and publishing
  std::condition_variable read_; // by somebody, for all who wait
  std::condition_variable service_wanted_;
  dispatch books_;
  std::map<std::string, publisher> to_names_;
  std::map<endpoint_id, queue_link> to_queues_;
  std::map<endpoint_id, std::shared_ptr<task_queue_core>> upstream_; // by exchange
  endpoint_id last_upstream_;                                        // is in there
  std::shared_ptr<exchange_core> dead_letters_;
  publisher progress_;
  std::optional<publisher> to_namesakes_;
  data_writer scratch_;
  std::uint64_t next_number_ = 0;
  std::vector<std::size_t> ends_;
  std::vector<data_message> batch_;
  time last_opened_{};   // when a batch was begun that tasks are collected in
  bool reading_ = false; // somebody is, without the mutex
  time senders_read_until_{};
  bool closed_ = false;
  error failure_; // why it closed by itself
  std::thread service_;
};

} // namespace pubsub::pattern
