// Everything an endpoint consists of; the public handles share it.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <pubsub/condition.hpp>
#include <pubsub/endpoint.hpp>

#include "endpoint/gateway_list.hpp"
#include "link/left_writing.hpp"
#include "node/flow/live_counters.hpp"
#include "node/flow/outbound.hpp"
#include "node/peering/peering.hpp"
#include "node/peering/status_queue.hpp"
#include "node/routing/router.hpp"

namespace pubsub {

class subscriber_core;

/// The subscribers of an endpoint that are open. Thread-safe. A subscriber takes itself out before
/// it goes away.
class subscriber_list {
public:
  void add(const subscriber_core* who) {
    std::lock_guard lock{mutex_};
    all_.push_back(who);
  }
  void remove(const subscriber_core* who) noexcept {
    std::lock_guard lock{mutex_};
    std::erase(all_, who);
  }
  /// Calls `visit(subscriber)` for each, in the order of their creation. No subscriber goes away
  /// meanwhile; `visit` must not open or close one.
  template <class F>
  void visit(F&& visit) const {
    std::lock_guard lock{mutex_};
    for (const auto* each : all_)
      visit(*each);
  }

private:
  mutable std::mutex mutex_; // guards all_
  std::vector<const subscriber_core*> all_;
};

/// Owns the router, the peering and the counters. Thread-safe.
class endpoint_core {
public:
  /// Of a topic in reports: the rest is cut off.
  static constexpr std::size_t shown_topic_bytes = 200;

  explicit endpoint_core(endpoint_options options);
  ~endpoint_core() { close(); }

  const endpoint_id& id() const noexcept { return id_; }
  const std::string& name() const noexcept { return options_.name; }
  router& routes() noexcept { return routes_; }
  peering& peers() const noexcept { return *peering_; }
  status_hub& events() noexcept { return events_; }
  counter_registry& counts() noexcept { return counts_; }
  endpoint_counters counters() const { return counts_.sum(); }
  subscriber_list& subscribers() noexcept { return subscribers_; }

  bool retire(const deadline& until);
  /// As `endpoint::peer`, for that endpoint.
  expected<void> connect(const endpoint& self, std::string_view uri, const peer_options& options,
                         bool wait);
  expected<void> disconnect(const endpoint_id& id, std::chrono::nanoseconds timeout);
  expected<void> disconnect(std::string_view uri, std::chrono::nanoseconds timeout);
  /// As `endpoint::peers`.
  std::vector<peer_info> known_peers() const;
  const gateway_list& gateways() const noexcept { return gateways_; }
  std::unique_ptr<outbound> make_outbound(const message_queue* except = nullptr);
  /// Lends an outbound to a thread that has none of its own: without a lock where one thread
  /// publishes at a time.
  template <class F>
  publish_result with_outbound(F&& publish) {
    struct loan {
      ~loan() { owner.give_back(mine); }
      endpoint_core& owner;
      lendable* const mine;
    } const now{*this, borrow()};
    return closed() ? now.mine->out->refuse_closed() : publish(*now.mine->out);
  }

  publish_result publish(std::string_view topic, publishable&& what, const deadline& until) {
    return with_outbound([&](outbound& out) { return out.publish(topic, std::move(what), until); });
  }

  /// Other nodes may ask from now on, unless this one does not tell.
  void begin_telling();
  /// As `endpoint::status_of` and `network_of`.
  expected<std::string> ask_about(const endpoint_id& node, wire::inquiry_subject what,
                                  std::chrono::nanoseconds timeout, std::size_t max_bytes) const;
  /// As `endpoint::trace`.
  expected<std::vector<trace_hop>> trace(std::string_view topic,
                                         std::chrono::nanoseconds timeout) const;
  /// As `endpoint::drain`.
  std::size_t drain(std::chrono::nanoseconds timeout);
  /// How the endpoint is, as JSON (docs/cli.md, `pubsub status`). Peers and subscribers for which
  /// there is no room are left out and counted.
  std::string status_text(std::size_t max_bytes) const;
  /// As `endpoint::network_text`.
  std::string network_text(std::size_t max_bytes) const;
  /// As `endpoint::metrics_text`.
  std::string metrics_text() const;

  const endpoint_options& options() const noexcept { return options_; }
  /// What `check` has found wrong with the options this was made from; then it is closed.
  const expected<void>& fault() const noexcept { return fault_; }

  bool closed() const noexcept { return closed_->load(std::memory_order_acquire); }
  /// The same, for what may outlive this.
  std::shared_ptr<const std::atomic<bool>> closed_flag() const noexcept { return closed_; }
  void close(std::chrono::nanoseconds timeout) noexcept;
  void close() noexcept { close(options_.close_timeout); }

private:
  expected<void> connect(const endpoint& self, const gateway_scheme& scheme, const std::string& uri,
                         const peer_options& options, bool wait);

  /// Its runs hold what `last`, a thread that has no other, published; written under idle_mutex_.
  struct lendable {
    std::unique_ptr<outbound> out;
    std::atomic<std::thread::id> last;
  };

  lendable* borrow();
  lendable* borrow_from_shelf(lendable* unsuited);
  void give_back(lendable* idle) noexcept;

  const expected<void> fault_;
  const endpoint_options options_; // defaults in place of those with a fault
  const endpoint_id id_;
  const std::chrono::steady_clock::time_point born_ = std::chrono::steady_clock::now();
  counter_registry counts_;
  router routes_;
  status_hub events_;
  subscriber_list subscribers_;
  std::shared_ptr<peering> peering_;
  gateway_list gateways_{options_.gateways};
  std::atomic<lendable*> at_hand_{nullptr}; // the one given back last
  std::mutex idle_mutex_;                   // guards the following
  std::vector<std::unique_ptr<lendable>> all_;
  std::vector<lendable*> idle_;
  const std::shared_ptr<std::atomic<bool>> closed_ = std::make_shared<std::atomic<bool>>(false);
};

/// What a publisher handle owns.
class publisher_core {
public:
  publish_result publish(publishable&& what, const deadline& until) {
    return leaves_writing ? publish_and_leave_writing(std::move(what), until)
                          : publish_here(std::move(what), until);
  }

  std::shared_ptr<endpoint_core> owner;
  std::string topic;
  std::unique_ptr<outbound> out;
  bool leaves_writing = false;

private:
  [[gnu::noinline]] publish_result publish_and_leave_writing(publishable&& what,
                                                             const deadline& until) {
    const left_writing to_the_loops;
    return publish_here(std::move(what), until);
  }
  publish_result publish_here(publishable&& what, const deadline& until) {
    return owner->closed() ? out->refuse_closed() : out->publish(topic, std::move(what), until);
  }
};

/// What a bridge_publisher handle owns.
class bridge_publisher_core {
public:
  publish_result publish(std::string_view topic, publishable&& what, const deadline& until) {
    return owner->closed() ? out->refuse_closed() : out->publish(topic, std::move(what), until);
  }

  std::shared_ptr<endpoint_core> owner;
  std::shared_ptr<const message_queue> except; // kept, so that no other has its address
  std::unique_ptr<outbound> out;
};

/// What a network_subscriber handle owns. Thread-safety: as network_subscriber.
class network_reader {
  /// At a node as it is now.
  auto look() const { // its type has to be known below
    return
        [&routes = owner_->routes()](const auto& node, auto visit) { routes.look_at(node, visit); };
  }

public:
  explicit network_reader(std::shared_ptr<endpoint_core> owner)
      : owner_(std::move(owner)), watch_(std::make_shared<network_watch>()) {
    owner_->routes().add_watch(watch_);
  }
  ~network_reader() { close(); }
  network_reader(const network_reader&) = delete;
  network_reader& operator=(const network_reader&) = delete;

  received<network_event> get(const deadline& until) { return watch_->pull(look(), until); }
  bool available() { return watch_->available(look()); }
  int fd() { return watch_->fd(); }
  void close() {
    owner_->routes().remove_watch(watch_);
    watch_->discard();
  }

private:
  const std::shared_ptr<endpoint_core> owner_;
  const std::shared_ptr<network_watch> watch_;
};

/// What a readiness handle owns. Peers that have not answered are not asked any more where it ends.
class readiness_core {
public:
  readiness_core(std::shared_ptr<ready_state> known, std::vector<peering::asked_peer> asked)
      : known_(std::move(known)), asked_(std::move(asked)) {}
  ~readiness_core() {
    for (const auto& each : asked_)
      if (const auto peer = each.who.lock())
        peer->give_up(each.number);
  }
  readiness_core(const readiness_core&) = delete;
  readiness_core& operator=(const readiness_core&) = delete;

  ready_state& known() const noexcept { return *known_; }

private:
  const std::shared_ptr<ready_state> known_;
  const std::vector<peering::asked_peer> asked_;
};

/// What a subscriber handle owns: its place in the routes, and its queue. `get` takes messages in
/// small batches, so that a stream of single reads does not lock once per message; everything else
/// looks at the taken ones first. Thread-safety: as subscriber.
class subscriber_core {
public:
  subscriber_core(std::shared_ptr<endpoint_core> owner, const filter& topics,
                  const queue_options& options, std::optional<condition> where = {});
  ~subscriber_core() { close(); }
  subscriber_core(const subscriber_core&) = delete;
  subscriber_core& operator=(const subscriber_core&) = delete;

  received<data_message> get(const deadline& until);
  /// Appends to `out`.
  receive_status get_batch(std::vector<data_message>& out, std::size_t max, const deadline& until);
  received<std::vector<data_message>> get_batch(std::size_t max, const deadline& until);
  int fd() {
    polled_ = true;
    return queue_->fd(next_ < taken_.size());
  }
  std::size_t available() const {
    return discarded_.load(std::memory_order_acquire) ? 0 : queue_->ahead() + queue_->size();
  }
  subscriber_counters counters() const { return queue_->counters(); }
  bool closed() const { return queue_->finished(); }
  std::unique_ptr<readiness_core> begin_ready();
  void close();

  // What was published while a topic was not wanted is not missing.
  void add_topic(std::string_view prefix) {
    queue_->forget_streams();
    owner_->routes().add_topic(*id_, prefix);
  }
  void remove_topic(std::string_view prefix) {
    owner_->routes().remove_topic(*id_, prefix);
    queue_->forget_streams();
  }
  filter topics() const { return owner_->routes().subscriber_filter(*id_); }
  subscriber_id id() const noexcept { return *id_; }
  const std::shared_ptr<message_queue>& queue() const noexcept { return queue_; }
  const queue_options& options() const noexcept { return options_; }
  const std::optional<condition>& where() const noexcept { return where_; }

private:
  /// Why there was nothing: more may come, unless all that was queued has been read.
  receive_status why_nothing() const {
    return closed() && available() == 0 ? receive_status::closed : receive_status::timeout;
  }

  static constexpr std::size_t batch_messages = 256;

  const std::shared_ptr<endpoint_core> owner_;
  const queue_options options_;
  const std::optional<condition> where_;
  const std::string told_; // of it, to others; empty: they send everything
  /// 0 until the routes know this subscriber, which a queue that overflows at once finds.
  const std::shared_ptr<std::atomic<subscriber_id>> id_ =
      std::make_shared<std::atomic<subscriber_id>>(0);
  const std::shared_ptr<message_queue> queue_;
  std::vector<data_message> taken_; // from the queue, not yet given out from next_ on
  std::size_t next_ = 0;
  std::atomic<bool> discarded_{false}; // closed: what was taken is not given out any more
  bool polled_ = false;                // the fd is watched: no more is taken than is given out
  std::mutex readiness_mutex_;         // guards the following
  std::vector<std::weak_ptr<ready_state>> readiness_; // asked for, and perhaps not settled yet
};

} // namespace pubsub
