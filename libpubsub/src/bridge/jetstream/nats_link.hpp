// A connection to a NATS server that comes back by itself, driven by the thread that owns it.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <pubsub/bridge/engines.hpp>
#include <pubsub/error.hpp>

#include "bridge/engine/connector.hpp"
#include "bridge/engine/event_loop.hpp"
#include "bridge/jetstream/nats_ptr.hpp"

namespace pubsub::bridge {

/// What callbacks of cnats need, on whichever thread they run, perhaps after the connection has
/// been destroyed.
struct nats_events;

/// Messages from a thread of cnats. Only so each answer is seen that says that no server takes a
/// record, for where cnats is asked for the next message it keeps those to itself.
class answer_queue {
public:
  /// Whether it was empty.
  bool push(nats_ptr<natsMsg> message) {
    std::lock_guard lock{mutex_};
    messages_.push_back(std::move(message));
    return messages_.size() == 1;
  }
  std::vector<nats_ptr<natsMsg>> take() {
    std::lock_guard lock{mutex_};
    return std::exchange(messages_, {});
  }

private:
  std::mutex mutex_; // guards messages_
  std::vector<nats_ptr<natsMsg>> messages_;
};

/// Not thread-safe. Never blocks. cnats does not reconnect: the link makes another connection, so
/// that who uses it knows when subscriptions and consumers have to be made again.
class nats_link {
public:
  /// Errors: invalid_argument.
  static expected<std::unique_ptr<nats_link>> make(const jetstream& options);
  ~nats_link();

  int fd() const noexcept { return events_loop().fd(); }
  /// Connects, sends and receives what can be.
  void drive();
  /// How many connections there have been.
  std::uint64_t generation() const noexcept { return generation_; }
  bool ready() const noexcept { return connection_ != nullptr; }
  /// Null if there is none.
  natsConnection* get() const noexcept { return connection_.get(); }
  /// The start of the subjects on which answers come; the same for all connections.
  const std::string& inbox() const noexcept { return inbox_; }
  /// Publishes with an answer expected at `inbox` + `answer`. False if it cannot be sent now.
  bool request(const std::string& subject, std::string_view payload, std::string_view answer);
  /// Answers whose subject begins with `inbox` + `prefix` + `.`; null if they cannot come now.
  nats_ptr<natsSubscription> subscribe(std::string_view prefix);
  /// The same, with answers in `to`, to which a thread of cnats brings them.
  nats_ptr<natsSubscription> subscribe(std::string_view prefix,
                                       const std::shared_ptr<answer_queue>& to);
  /// Sends what has been published, as far as the socket takes it.
  void flush();
  /// For people: what is wrong with the connection; empty if nothing.
  std::string problem() const;
  /// Where the server has not allowed to publish: the subject, once; empty if there is none.
  std::string take_denied_subject();
  const std::string& address() const noexcept { return address_; }
  /// Closes the connection, which is not of use, and makes another one.
  void drop(std::string_view why);
  void wait(std::chrono::milliseconds timeout) { events_loop().wait(timeout); }

private:
  nats_link(nats_ptr<natsOptions> options, std::string address);

  event_loop& events_loop() const noexcept;
  void end();
  expected<nats_ptr<natsConnection>> connect();

  std::shared_ptr<nats_events> events_;
  nats_ptr<natsOptions> options_;
  std::string address_;
  std::string inbox_;
  nats_ptr<natsConnection> connection_;
  std::uint64_t generation_ = 0;
  bool asked_ = false; // a connection is being made
  std::string problem_;
  connector<nats_ptr<natsConnection>> connector_; // last: its thread uses the rest
};

/// What has come on a subscription.
struct next_message {
  explicit next_message(natsSubscription* from);

  explicit operator bool() const noexcept { return message != nullptr || unanswered; }

  nats_ptr<natsMsg> message; ///< null if there is none
  bool unanswered = false;   ///< it says that no server answers one of the requests
};
std::string_view payload_of(const natsMsg* x);

} // namespace pubsub::bridge
