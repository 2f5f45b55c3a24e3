// A queue and its endpoint: hears tasks, reports how far it is.
#pragma once

#include <atomic>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>

#include <pubsub/endpoint.hpp>
#include <pubsub/pattern/pipeline_options.hpp>
#include <pubsub/publisher.hpp>
#include <pubsub/subscriber.hpp>

#include "pattern/mailbox/time_limit.hpp"
#include "pattern/pipeline/intake.hpp"
#include "pattern/pipeline/reorder.hpp"
#include "pattern/pipeline/work_meter.hpp"

namespace pubsub::pattern {

/// A name as others know it: one that is local is told apart by its endpoint.
inline std::string name_in(const endpoint& at, name_scope scope, std::string_view name) {
  return (scope == name_scope::local ? to_string(at.id()) + "/" : std::string{}) +
         std::string{name};
}

/// Of the threads that wait for a task one reads for all. A thread of its own reports from time to
/// time, and reads while nobody waits. Thread-safe.
class task_queue_core : public std::enable_shared_from_this<task_queue_core> {
public:
  using time = std::chrono::steady_clock::time_point;

  /// Call `start` once it is shared.
  task_queue_core(endpoint& at, std::string_view name, const task_queue_options& options);
  ~task_queue_core() { close(); }

  void start();
  void bind(std::string_view exchange_name);
  /// Without a timeout as long as it takes.
  std::optional<ready_task> get(std::optional<std::chrono::nanoseconds> timeout);
  /// At most `max`, each as `make` has made it.
  template <class Task, class Make>
  std::vector<Task> get_batch(std::size_t max, std::optional<std::chrono::nanoseconds> timeout,
                              Make make) {
    lock_type lock{mutex_};
    std::vector<Task> result;
    if (!await_task(lock, timeout))
      return result;
    const auto here = ordered() ? in_order_.size() : books_.size();
    result.reserve(std::min(max, here));
    while (result.size() < max && !is_empty())
      result.push_back(make(take_next()));
    return result;
  }
  std::size_t available() const noexcept { return ready_; }
  std::size_t exchanges() const;
  bool wait_for_exchanges(std::size_t n, std::chrono::nanoseconds timeout);
  void done(std::span<const task_marks> tasks);
  void done(const endpoint_id& exchange, std::span<const number_run> places, bool direct);
  void reject(const task_origin& from, std::uint64_t place);
  void close();
  bool closed() const {
    std::lock_guard lock{mutex_};
    return closed_;
  }

private:
  using lock_type = std::unique_lock<std::mutex>;

  bool await_task(lock_type& lock, std::optional<std::chrono::nanoseconds> timeout);
  ready_task take_next();
  void await(lock_type& lock, time_limit until);
  void read(lock_type& lock, std::chrono::nanoseconds limit);
  void take(data_message msg);
  bool is_empty() const noexcept { return ordered() ? in_order_.empty() : books_.empty(); }
  bool ordered() const noexcept { return options_.order == task_order::by_number; }
  filter topics() const;
  std::uint64_t credit() const noexcept;
  struct exchange_link;
  exchange_link& link_to(const endpoint_id& exchange);
  void report_to(const endpoint_id& exchange);
  void tell_sources();
  void tell_of_the_last();
  void ask_for_more();
  void announce();
  void report_to_all(time now);
  void run();

  endpoint& at_;
  const task_queue_options options_;
  const endpoint_id id_ = endpoint_id::random();
  const std::string named_topic_; // empty: it has no name
  subscriber in_;

  mutable std::mutex mutex_;        // guards what follows, and publishing
  std::condition_variable read_;    // by somebody, for all who wait
  std::condition_variable closing_; // what the reporter sleeps on: no task wakes it
  intake books_;
  reorder<ready_task> in_order_; // of an ordered queue, all that is ready
  std::map<std::string, publisher> to_names_;
  struct exchange_link {
    publisher out;
    std::optional<time> gone_since;
  };
  std::map<endpoint_id, exchange_link> to_exchanges_;
  std::vector<data_message> batch_;
  data_writer scratch_;
  work_meter meter_;
  std::uint64_t untimed_ = 0; // tasks given out since its last lap
  time told_of_the_last_{};
  bool reading_ = false; // somebody is, without the mutex
  bool closed_ = false;
  std::atomic<std::size_t> ready_{0};
  std::thread reporter_;
};

} // namespace pubsub::pattern
