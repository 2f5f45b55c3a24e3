// An instance of a service and its endpoint: hears requests, runs handlers, replies.
#pragma once

#include <chrono>
#include <condition_variable>
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
#include <pubsub/publisher.hpp>
#include <pubsub/subscriber.hpp>

#include "pattern/remote/remote_messages.hpp"
#include "pattern/remote/reply_outbox.hpp"
#include "pattern/remote/service_queue.hpp"
#include "pattern/remote/service_results.hpp"

namespace pubsub::pattern {

/// Workers take turns in reading; who has read goes on with what it found, so one worker hands
/// nothing over. One more thread tells clients from time to time that the instance is there, and
/// sends what their links had no room for.
/// Thread-safe.
class service_core {
public:
  using time = std::chrono::steady_clock::time_point;

  service_core(endpoint& at, std::string_view name, const service_options& options);
  ~service_core() { close(); }

  expected<void> add(std::string_view name, encoded_handler handler,
                     const operation_options& options);
  void start();
  std::size_t clients() const;
  service_counters counters() const;
  void close();
  bool closed() const;

private:
  using lock_type = std::unique_lock<std::mutex>;
  using outbox_ptr = std::shared_ptr<reply_outbox>;

  void run();
  void read(lock_type& lock, std::chrono::nanoseconds limit);
  void do_work(lock_type& lock, service_results& out);
  void reply(lock_type& lock, service_results& out);
  reply_outbox::outcome send(const endpoint_id& client, reply_outbox& to,
                             const data_writer& message);
  void take(const data_message& message, time now);
  void hear(const request_view& request, const data_message& storage, time now);
  outbox_ptr find_client(const endpoint_id& id);
  void send_untaken(const endpoint_id& client, reply_outbox& to, std::uint64_t stream,
                    const number_run& places);
  service_status status() const;
  void announce();
  void tell(reply_outbox& to);
  void look_after_clients();
  void flush_outboxes(time until);
  void forget_clients(time now);

  endpoint& at_;
  const std::string name_;
  const service_options options_;
  const endpoint_id id_ = endpoint_id::random();
  const std::string service_topic_, own_topic_;

  mutable std::mutex mutex_;      // guards what follows
  std::condition_variable ready_; // there is work, or nobody reads
  std::condition_variable due_;   // for who looks after clients
  std::map<std::string, service_operation, std::less<>> operations_; // fixed once started
  std::optional<subscriber> in_;                                     // used by the one that reads
  std::optional<publisher> to_clients_;
  std::map<endpoint_id, outbox_ptr> clients_;
  std::set<endpoint_id> behind_; // clients with replies that were kept
  service_queue queue_;
  std::vector<data_message> batch_;
  time last_read_{};
  bool reading_ = false;
  bool started_ = false;
  bool closed_ = false;
  service_counters counters_;
  std::mutex joining_;
  std::vector<std::thread> threads_;
};

} // namespace pubsub::pattern
