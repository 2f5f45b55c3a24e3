// A queue and its endpoint: hears tasks, reports how far it is.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <pubsub/endpoint.hpp>
#include <pubsub/pattern/pipeline_options.hpp>

#include "pattern/mailbox/announcer.hpp"
#include "pattern/mailbox/mailbox.hpp"
#include "pattern/mailbox/partner.hpp"
#include "pattern/pipeline/intake.hpp"
#include "pattern/pipeline/reorder.hpp"
#include "pattern/pipeline/work_meter.hpp"

namespace pubsub::pattern {

/// What names begin with as others know them: local ones are told apart by their endpoint.
inline std::string prefix_of(const endpoint& at, name_scope scope) {
  return scope == name_scope::local ? to_string(at.id()) + "/" : std::string{};
}

/// Workers read as they wait; meanwhile reports are due from time to time. Thread-safe.
class task_queue_core final : public std::enable_shared_from_this<task_queue_core>,
                              private mailbox {
public:
  /// Call `start` once it is shared.
  task_queue_core(std::shared_ptr<endpoint> at, std::string_view name,
                  const task_queue_options& options);
  ~task_queue_core() override { close(); }

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
  bool closed() const;

private:
  void take(std::span<data_message> messages, time now) override;
  void tick(time now) override;
  time next_tick() const override;

  bool await_task(lock_type& lock, std::optional<std::chrono::nanoseconds> timeout);
  ready_task take_next();
  void receive(data_message msg);
  bool is_empty() const noexcept { return ordered() ? in_order_.empty() : books_.empty(); }
  bool ordered() const noexcept { return options_.order == task_order::by_number; }
  filter topics() const;
  std::uint64_t credit() const noexcept;
  void report_to(const endpoint_id& exchange);
  void report_completed();
  void report_last_task();
  void ask_for_more();
  void announce(time now);
  void report_to_all(time now);

  const std::shared_ptr<endpoint> at_;
  const task_queue_options options_;
  const endpoint_id id_ = endpoint_id::random();
  const std::string scope_;       // what names begin with
  const std::string named_topic_; // empty: it has no name

  intake books_;
  reorder<ready_task> in_order_; // of an ordered queue, all that is ready
  partner_map exchanges_;        // and sources
  announcer announcements_;
  data_writer scratch_;
  work_meter meter_;
  std::uint64_t untimed_ = 0; // tasks given out since its last lap
  time last_task_reported_{};
  time next_report_{};
  time ask_at_ = time::max();
  std::atomic<std::size_t> ready_{0};
};

} // namespace pubsub::pattern
