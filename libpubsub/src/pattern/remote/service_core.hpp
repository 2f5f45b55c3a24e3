// An instance of a service and its endpoint: receives requests, runs handlers, replies.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <pubsub/endpoint.hpp>
#include <pubsub/pattern/remote.hpp>

#include "pattern/mailbox/announcer.hpp"
#include "pattern/mailbox/mailbox.hpp"
#include "pattern/remote/remote_messages.hpp"
#include "pattern/remote/reply_outbox.hpp"
#include "pattern/remote/service_queue.hpp"
#include "pattern/remote/service_results.hpp"

namespace pubsub::pattern {

/// A worker that waits for requests reads, and goes on with what it found, so one worker hands
/// nothing over. The instance announces itself to clients again and again. Thread-safe.
class service_core final : private mailbox {
public:
  /// The options are in range.
  service_core(std::shared_ptr<endpoint> at, std::string_view name, const service_options& options);
  ~service_core() override { close(); }

  expected<void> add(std::string_view name, writing_handler handler, repeatable repeat);
  expected<void> start();
  std::size_t clients() const;
  service_counters counters() const;
  void close();
  bool closed() const;

private:
  using outbox_ptr = std::shared_ptr<reply_outbox>;

  void take(std::span<data_message> messages, time now) override;
  void tick(time now) override;
  time next_tick() const override { return std::min(announcements_.next(), next_flush_); }
  bool has_room() const override { return !queue_.full(); }

  void run();
  void do_work(lock_type& lock, service_results& out);
  void reply(lock_type& lock, service_results& out);
  void send_untaken(const client_places& what);

  void receive(const data_message& message, time now);
  void receive(const request_view& request, const data_message& storage, time now);
  outbox_ptr find_client(const endpoint_id& id);
  data_writer status() const;
  void note_behind(const endpoint_id& client);
  void flush_outboxes(time until);

  const std::shared_ptr<endpoint> at_;
  const std::string name_;
  const service_options options_;
  const endpoint_id id_ = endpoint_id::random();
  const std::string service_topic_, own_topic_;

  std::map<std::string, service_operation, std::less<>> operations_; // fixed once started
  announcer announcements_;
  std::map<endpoint_id, outbox_ptr> clients_;
  std::set<endpoint_id> behind_; // clients with replies that were kept
  time next_flush_ = time::max();
  service_queue queue_;
  time last_read_{};
  bool started_ = false;
  service_counters counters_;
  std::mutex joining_workers_; // guards workers_
  std::vector<std::thread> workers_;
};

} // namespace pubsub::pattern
