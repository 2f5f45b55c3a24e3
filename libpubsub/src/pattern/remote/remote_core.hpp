// A client of a service and its endpoint.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <pubsub/endpoint.hpp>
#include <pubsub/pattern/remote.hpp>

#include "pattern/mailbox/announcer.hpp"
#include "pattern/mailbox/mailbox.hpp"
#include "pattern/mailbox/partner.hpp"
#include "pattern/remote/request_table.hpp"

namespace pubsub::pattern {

/// A reply wakes the thread that waits for it, which reads. Thread-safe.
class remote_core final : private mailbox, private remote_port {
public:
  using call_ptr = std::shared_ptr<remote_call>;

  remote_core(std::shared_ptr<endpoint> at, std::string_view name, const remote_options& options);
  ~remote_core() override { close(); }

  /// Without a timeout that of the options.
  call_ptr submit(std::string_view operation, std::span<const std::byte> argument,
                  std::optional<std::chrono::nanoseconds> timeout);
  /// Arguments one behind the other; `in_bulk`: in one request to each instance.
  std::vector<call_ptr> submit_all(std::string_view operation, std::span<const std::byte> arguments,
                                   bool in_bulk);
  /// Waits until it is complete; false at the limit.
  bool wait_for(const remote_call& call, time_limit until);
  /// Calls it once the call is complete, under the lock if that is later.
  void when_done(remote_call& call, std::function<void()> then);
  bool cancel(remote_call& call);
  void flush();
  std::size_t drain(std::chrono::nanoseconds timeout);
  bool wait_for_instances(std::size_t n, std::chrono::nanoseconds timeout);
  std::size_t instances() const;
  std::size_t unfinished() const;
  remote_conditions conditions() const;
  remote_conditions conditions(std::string_view operation) const;
  remote_plan plan() const;
  remote_counters counters() const;
  void close();
  bool closed() const;
  error failure() const;

private:
  outcome to_instance(const endpoint_id& id, std::span<const std::byte> message) override;
  bool is_served() override { return hello_.is_heard(); }
  void take(std::span<data_message> messages, time now) override;
  void tick(time now) override;
  time next_tick() const override;
  void look_for_lost(time now);
  void say_hello(time now);
  call_ptr refused() const;
  time deadline(std::optional<std::chrono::nanoseconds> timeout, time now) const;

  const remote_options options_;
  const endpoint_id id_ = endpoint_id::random();
  const std::string callers_topic_, own_topic_;
  announcer hello_; // while no instance answers
  partner_map instances_;
  data_writer scratch_;
  request_table requests_;
  time next_look_{};
  error failure_;
};

} // namespace pubsub::pattern
