// A client of a service at one endpoint.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <pubsub/endpoint.hpp>
#include <pubsub/pattern/remote_options.hpp>

#include "pattern/mailbox/announcer.hpp"
#include "pattern/mailbox/mailbox.hpp"
#include "pattern/mailbox/partner.hpp"
#include "pattern/remote/request_table.hpp"

namespace pubsub::pattern {

/// A reply wakes the thread that waits for it, which reads. Thread-safe.
class remote_core final : private mailbox, private remote_port {
public:
  using call_ptr = std::shared_ptr<remote_call>;

  /// Of the arguments of several calls, one behind the other: each `step`-th from `first` on.
  struct argument_share {
    std::span<const std::byte> arguments;
    std::size_t first = 0, step = 1;
  };

  /// The options are in range. Errors: shutting_down, the endpoint is closed.
  static expected<std::shared_ptr<remote_core>> open(const endpoint& at, std::string_view name,
                                                     const remote_options& options);
  remote_core(const std::shared_ptr<endpoint>& at, std::string_view name,
              const remote_options& options);
  ~remote_core() override { close(); }

  /// Without a timeout that of the options.
  call_ptr submit(std::string_view operation, std::span<const std::byte> argument,
                  std::optional<std::chrono::nanoseconds> timeout);
  std::vector<call_ptr> submit_all(std::string_view operation, argument_share share, grouping how);
  /// Waits until it is complete; false at the limit.
  bool wait_for(const remote_call& call, time_limit until);
  /// Calls it once the call is complete, under the lock if that is later.
  void when_done(remote_call& call, std::function<void()> then);
  bool cancel(remote_call& call);
  void send_pending();
  std::size_t drain(time_limit until);
  bool wait_for_instances(std::size_t n, time_limit until);
  /// What `part` returns of the requests.
  template <class Part>
  auto ask(Part part) const {
    const lock_type lock{mutex_};
    return part(requests_);
  }
  void close();
  bool closed() const;

private:
  partner::outcome to_instance(const endpoint_id& id, std::span<const std::byte> message) override {
    return instances_[id].send(message);
  }
  bool is_served() override { return hello_.is_heard(); }
  void take(std::span<data_message> messages, time now) override;
  void tick(time now) override;
  time next_tick() const override;
  bool is_known() const { return requests_.instances().size().instances > 0; }
  void look_for_lost(time now);
  time deadline(std::optional<std::chrono::nanoseconds> timeout, time now) const;

  const remote_options options_;
  const endpoint_id id_ = endpoint_id::random();
  const std::string callers_topic_, own_topic_;
  announcer hello_; // while no instance answers
  partner_map instances_;
  request_table requests_;
  time next_look_{};
};

} // namespace pubsub::pattern
