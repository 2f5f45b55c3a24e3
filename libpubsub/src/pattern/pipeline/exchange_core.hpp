// An exchange and its endpoint: sends tasks, hears what became of them.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <pubsub/endpoint.hpp>
#include <pubsub/publisher.hpp>

#include "pattern/mailbox/announcer.hpp"
#include "pattern/mailbox/mailbox.hpp"
#include "pattern/mailbox/partner.hpp"
#include "pattern/pipeline/dispatch.hpp"
#include "pattern/pipeline/task_queue_core.hpp"

namespace pubsub::pattern {

/// Senders share out what they send, and hear reports while they wait. Thread-safe.
class exchange_core final : private mailbox {
public:
  exchange_core(std::shared_ptr<endpoint> at, std::string_view name,
                const exchange_options& options);
  ~exchange_core() override { close(); }

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
  bool closed() const;
  error failure() const;

private:
  void take(std::span<data_message> messages, time now) override;
  void tick(time now) override;
  time next_tick() const override;
  void pass_on(lock_type& lock) override;

  /// As `mailbox::wait`; what was held back goes before.
  template <class Condition>
  bool flush_and_wait(lock_type& lock, time_limit until, Condition&& met) {
    dispatch_.flush();
    share_out();
    return wait(lock, until, met);
  }
  bool await_room(lock_type& lock, std::optional<std::chrono::nanoseconds> timeout);
  std::size_t add_results(std::span<const std::byte>& values, const task_marks& of,
                          std::uint64_t first);
  std::size_t add(new_tasks kind, std::span<const std::byte>& values, std::size_t most);
  void begin_batch();
  void share_out();
  void acknowledge(lock_type& lock);
  void send_dead_letters(lock_type& lock);
  void send_dead(const task_batch& single);
  void receive(const data_message& msg, time now);
  void welcome(const endpoint_id& queue);
  void look_after_queues(time now);
  void invite(time now);
  void claim_name(time now);
  void contest(const claim& other, time now);
  void publish_progress();

  const exchange_options options_;
  const endpoint_id id_ = endpoint_id::random();
  const std::string name_;
  const std::string named_topic_; // empty: it has no name
  const std::string scope_;       // what names of queues begin with
  const time begun_ = std::chrono::steady_clock::now();

  dispatch dispatch_;
  partner_map queues_;
  announcer invitations_, claims_;
  std::map<endpoint_id, std::shared_ptr<task_queue_core>> upstream_; // by exchange
  endpoint_id last_upstream_;                                        // is in there
  std::shared_ptr<exchange_core> dead_letters_;
  publisher progress_;
  data_writer scratch_;
  std::uint64_t next_number_ = 0;
  std::vector<std::size_t> ends_;
  time last_opened_{}; // when a batch was begun that tasks are collected in
  time next_look_{};
  error failure_; // why it closed by itself
};

} // namespace pubsub::pattern
