// A client's requests: which calls go together, to which instance, and when. Pure: messages in,
// messages out to a port.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <pubsub/data_message.hpp>
#include <pubsub/data_writer.hpp>
#include <pubsub/pattern/remote_options.hpp>
#include <pubsub/value/endpoint_id.hpp>

#include "pattern/mailbox/partner.hpp"
#include "pattern/mailbox/speakers.hpp"
#include "pattern/remote/call_table.hpp"
#include "pattern/remote/instance_table.hpp"

namespace pubsub::pattern {

/// How messages leave a client.
class remote_port {
public:
  virtual ~remote_port() = default;
  virtual partner::outcome to_instance(const endpoint_id& id,
                                       std::span<const std::byte> message) = 0;
  /// Some instance within reach serves the name.
  virtual bool is_served() = 0;
};

/// Not thread-safe.
class request_table {
public:
  using time = std::chrono::steady_clock::time_point;
  using call_ptr = std::shared_ptr<remote_call>;

  request_table(const endpoint_id& id, std::string service_name, const remote_options& options,
                remote_port& port)
      : id_(id), service_name_(std::move(service_name)), options_(options), port_(port),
        plan_(fixed_plan(options)) {}

  /// The argument is one value in bin::v1. Call `send` when all are added.
  call_ptr add(std::string_view operation, std::span<const std::byte> argument, time deadline,
               time now);
  /// Sends what the mode allows; with `pending` also what would wait for more to go with it.
  void send(time now, bool pending = false);
  /// The same in one request to each instance.
  void send_bulk(time now);
  /// False if it was complete.
  bool cancel(remote_call& call, time now);

  /// `prompt`: a thread was waiting for it when it came.
  void receive(const data_message& message, time now, bool prompt = true);
  /// `how`: such as `is silent`.
  void lose(const endpoint_id& id, const std::string& how, time now);
  /// Gives up calls that are late, and instances that are silent. At `next_tick` or later.
  void tick(time now);
  time next_tick() const noexcept { return next_tick_; }
  /// Completes all with this error.
  void abandon(const pubsub::error& why) { calls_.abandon(why); }

  bool has_room() const noexcept { return unfinished() < options_.max_unfinished; }
  std::size_t unfinished() const noexcept { return calls_.size(); }
  const instance_table& instances() const noexcept { return instances_; }
  const remote_counters& counters() const noexcept { return calls_.counters(); }
  /// Of the operation that the last reply was for.
  const remote_conditions& conditions() const noexcept { return conditions_; }
  const remote_plan& plan() const noexcept { return plan_; }
  /// Results of this operation have been long.
  bool has_long_results(std::string_view operation) const;

private:
  using instance = instance_table::instance;

  void send_by(const request_plan& plan, time now, bool pending);
  bool waits_for_more(std::size_t most, time now);
  bool refuse(call_table::entry& first);
  std::size_t share_of(const request_plan& plan, time now) const;
  void gather(const call_table::operation* operation, std::size_t max, std::size_t max_bytes);
  void send_batch(instance_table::map::value_type& to, const call_table::operation* operation,
                  time now);
  void update_plan(time now);

  void receive(const reply_view& reply, const data_message& storage, time now, bool prompt);
  void measure(instance& at, const reply_view& reply, received_reply what);
  void settle(instance& at, const reply_view& reply, const data_message& storage);
  void release(const call_table::entry& what);

  const endpoint_id id_;
  const std::string service_name_;
  const remote_options options_;
  remote_port& port_;
  message_buffer message_;
  data_writer arguments_; // of the request that is being made

  call_table calls_;
  instance_table instances_;
  speakers speakers_;
  std::vector<std::uint64_t> batch_; // calls of the request that is being made
  time waiting_since_{};             // the first that waits, in round numbers
  time next_tick_{};

  request_plan plan_;
  time next_choice_{};
  std::size_t chosen_for_ = 0;   // bits of the number that waited
  remote_conditions conditions_; // as the last reply has left them
};

} // namespace pubsub::pattern
