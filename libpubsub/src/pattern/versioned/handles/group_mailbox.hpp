// What is between an endpoint and the protocol of a replica, or of a client of a group.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <chrono>
#include <utility>

#include "pattern/mailbox/check_counts.hpp"
#include "pattern/mailbox/mailbox.hpp"
#include "pattern/mailbox/partner.hpp"
#include "pattern/mailbox/tuning.hpp"
#include "pattern/versioned/protocol/tuning.hpp"
#include "pattern/versioned/protocol/versioned_messages.hpp"

namespace pubsub::pattern {

/// invalid_argument where an option is shorter than `least` or longer than a year.
inline error check_time(const std::string& name, std::chrono::nanoseconds value,
                        std::chrono::nanoseconds least) {
  if (value >= least && value <= tuning::longest_time)
    return {};
  return {errc::invalid_argument, name + ": " + std::to_string(value.count()) +
                                      " ns is out of range, " + std::to_string(least.count()) +
                                      " ns to a year"};
}

/// Reads and sends for a `Protocol`: `replica_protocol` or `client_window`. Thread-safe.
template <class Protocol>
class group_mailbox : protected mailbox, private versioned_port {
public:
  /// What a function says of the protocol.
  template <class Function>
  auto ask(Function function) {
    const lock_type lock{mutex_};
    return function(protocol_);
  }
  /// Waits until a condition of the protocol is met; false at the timeout, or once closed.
  template <class Condition>
  bool await(std::chrono::nanoseconds timeout, Condition met) {
    lock_type lock{mutex_};
    return wait(lock, limit_after(timeout), [&] { return met(protocol_); });
  }
  void close() { stop(); }
  using mailbox::closed;
  static time now() { return std::chrono::steady_clock::now(); }

protected:
  template <class Options>
  group_mailbox(const std::shared_ptr<endpoint>& at, std::string_view group,
                std::vector<std::string> topics, const endpoint_id& id, std::string name,
                const Options& options)
      : topics_(std::move(topics)), all_replicas_(at->make_publisher(topic_of_replicas(group))),
        everyone_(at->make_publisher(topic_of_status(group))), replicas_(at, topic_of_replica),
        clients_(at, topic_of_client), protocol_(id, std::move(name), options, *this, now()) {}

  /// At the end of the constructor; where the endpoint is closed, this is, too.
  void begin(endpoint& at) {
    auto in = at.make_subscriber(filter(topics_));
    closed_ = in.closed();
    if (!closed_)
      start(std::move(in));
  }

  void take(std::span<data_message> messages, time now) final {
    for (const auto& each : messages)
      if (std::ranges::find(topics_, get_topic(each)) != topics_.end())
        protocol_.receive(each, now);
    if (!messages.empty())
      protocol_.settle(now);
    if (protocol_.failure())
      end();
  }
  void tick(time now) override {
    if (now >= next_look_)
      look_for_partners(now);
    protocol_.tick(now);
    if (protocol_.failure())
      end();
  }
  time next_tick() const final { return protocol_.next_tick(); }

private:
  bool send(versioned_target to, const endpoint_id& id, std::span<const std::byte> message) final {
    if (to == versioned_target::replica)
      return replicas_[id].send(message) == partner::outcome::sent;
    if (to == versioned_target::client)
      return clients_[id].send(message) == partner::outcome::sent;
    auto& all = to == versioned_target::all_replicas ? all_replicas_ : everyone_;
    const auto result = all.send(message);
    return result == partner::outcome::sent ||
           (Protocol::may_be_alone && result != partner::outcome::full);
  }
  void look_for_partners(time now) {
    next_look_ = now + tuning::time_between_looks;
    for (const auto& each : protocol_.known_replicas())
      (void)replicas_[each];
    for (const auto& each : replicas_.find_gone(now)) {
      replicas_.erase(each);
      protocol_.lose(each);
    }
    for (const auto& each : clients_.find_forgotten(now))
      clients_.erase(each);
  }

  const std::vector<std::string> topics_;
  partner all_replicas_;
  partner everyone_;
  partner_map replicas_;
  partner_map clients_;
  time next_look_{};

protected:
  Protocol protocol_;
};

} // namespace pubsub::pattern
