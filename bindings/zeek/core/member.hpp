// A Zeek process as a node of the network. Zeek itself does not occur here.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <pubsub/endpoint.hpp>
#include <pubsub/network_subscriber.hpp>
#include <pubsub/readiness.hpp>
#include <pubsub/zeek/event.hpp>

#include "formatted_bytes.hpp"
#include "log_inbox.hpp"
#include "log_sender.hpp"
#include "member_counters.hpp"
#include "member_options.hpp"
#include "node_watch.hpp"
#include "poll_set.hpp"
#include "topic_publishers.hpp"

namespace pubsub::zeek::backend {

/// The format of Zeek's events that needs no other form to travel.
inline constexpr std::string_view value_format = "broker-bin-v1";

/// What a member has for Zeek. Called by `member::process` and `member::process_logs` only.
class member_handler {
public:
  virtual void event(std::string_view topic, const formatted_bytes& what) = 0;
  virtual void log_batch(const formatted_bytes& what) = 0;
  /// Another node of the cluster is in reach, and whatever it wants is known.
  virtual void node_ready(std::string_view id) = 0;
  /// It is not any more: it has left, crashed, or is cut off.
  virtual void node_lost(std::string_view id) = 0;
  /// A link was lost or could not be made: a sentence for a log.
  virtual void link_failed(std::string_view what) = 0;

protected:
  ~member_handler() = default;
};

/// Belongs to one thread, Zeek's main one, and blocks it where that is said. Subscribing and
/// publishing work from the beginning, and reach others after `start`.
class member {
public:
  using clock = std::chrono::steady_clock;
  /// Empty where it has worked, else the reason why not.
  using completion = std::function<void(const std::string& failure)>;

  /// `handler` stays until `stop`.
  member(member_options options, member_handler& handler);
  member(const member&) = delete;
  member& operator=(const member&) = delete;

  const endpoint_id& id() const noexcept { return at_.id(); }
  /// Listens, and begins to connect. Errors: those of `endpoint::listen`, `endpoint::peer_async`
  /// and `exchange::open`.
  expected<void> start(member_place place);
  /// Sends what waits and says goodbye, within `linger`. Hands over nothing more: what a logger was
  /// handed is written by now.
  void stop(std::chrono::nanoseconds linger);

  /// Readable while there is something to `process` (level-triggered).
  int fd() const noexcept { return poll_.fd(); }
  /// Whether events are there now, for a loop that looks at descriptors now and then only.
  bool has_events() const { return !set_aside_.empty() || in_.available() > 0; }
  /// When to call `process` although `fd` is not readable.
  std::optional<clock::time_point> deadline() const;
  /// Hands over at most `max` events and as many batches, and all news of nodes.
  void process(std::size_t max);
  /// The batches only, all that are there: for a logger that is about to close its files.
  void process_logs() { process_logs(SIZE_MAX); }

  /// False unless every link on the way to a node that wants it has taken it. Blocks while the
  /// route to a node is being changed, and with a link policy `block` while its queue is full.
  /// Events that come meanwhile are set aside, so that two who publish to one another do not wait
  /// for each other.
  bool publish(std::string_view topic, const formatted_bytes& what);
  /// False if a part of it is lost. Blocks with `log_transport::records` only, as `publish`.
  bool publish_logs(const formatted_bytes& batch);
  /// `done` is called once every node in reach knows the subscription, or `ready_timeout` is over:
  /// by `process`, or at once.
  void subscribe(std::string_view prefix, completion done = {});
  void unsubscribe(std::string_view prefix) { in_.remove_topic(prefix); }
  /// `done` is called once what is published reaches the others, or `ready_timeout` is over.
  void when_ready_to_publish(completion done);

  /// Where further members of this process, such as its WebSocket clients, connect to. Listens
  /// within the host if this member has no address yet. Errors: those of `endpoint::listen`.
  expected<std::vector<std::string>> addresses_for_own_clients();

  event_counters events() const noexcept { return events_; }
  log_counters logs() const;
  /// For counters of links and what else the library tells.
  const endpoint& node() const noexcept { return at_; }

private:
  struct waiting {
    completion done;
    clock::time_point until;
    bool needs_subscription = false; // else a peer is enough
    std::optional<readiness> subscription;
  };

  void take_network_changes();
  void take_status();
  void settle(clock::time_point now);
  std::optional<std::string> outcome(waiting& each, clock::time_point now);
  bool is_connected() const noexcept { return started_ && (has_peered_ || place_.connect.empty()); }
  void hand_over_events(std::size_t max);
  void process_logs(std::size_t max);
  void hand_over(const data_message& message);
  bool greets_at_the_wrong_time(const zeek::event_view& event, const data_message& message);
  void hand_over_greeting(const endpoint_id& node);
  publish_result send(std::string_view topic, std::span<const std::byte> value);
  publish_result wait_for_room(publisher& to, std::span<const std::byte> value);
  void wait_for(completion done, bool needs_subscription);

  const member_options options_;
  member_place place_;
  member_handler& handler_;
  endpoint at_;
  subscriber in_;
  status_subscriber status_;
  network_subscriber network_;
  topic_publishers publishers_{at_};
  node_watch nodes_;
  std::optional<log_sender> log_out_; // from `start` on
  std::optional<log_inbox> log_in_;   // the same, of loggers
  poll_set poll_;
  std::vector<data_message> batch_;
  std::size_t answers_to_come_ = 0; // at most: events of the last batch
  std::deque<data_message> set_aside_;
  std::map<endpoint_id, data_message> early_greetings_; // by who asks
  std::vector<waiting> waiting_;
  std::vector<std::string> listening_at_;
  std::string last_problem_;
  data_writer value_;
  event_counters events_;
  bool started_ = false;
  bool has_peered_ = false;
};

} // namespace pubsub::zeek::backend
