// Everything an endpoint consists of; the public handles share it.
#pragma once

#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include <pubsub/endpoint.hpp>

#include "endpoint/subscriber_list.hpp"
#include "node/flow/live_counters.hpp"
#include "node/flow/outbound.hpp"
#include "node/peering/peering.hpp"
#include "node/peering/status_queue.hpp"
#include "node/routing/router.hpp"

namespace pubsub {

/// Owns the router, the peering and the counters. Thread-safe.
class endpoint_core {
public:
  explicit endpoint_core(endpoint_options options);
  ~endpoint_core();

  const endpoint_id& id() const noexcept { return id_; }
  router& routes() noexcept { return routes_; }
  peering& peers() const noexcept { return *peering_; }
  status_hub& events() noexcept { return events_; }
  endpoint_counters counters() const { return counts_.sum(); }
  subscriber_list& subscribers() noexcept { return subscribers_; }
  const subscriber_list& subscribers() const noexcept { return subscribers_; }
  std::chrono::milliseconds uptime() const {
    return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() -
                                                                 born_);
  }

  /// Connects to a peer, after a look at the options.
  expected<void> connect(std::string_view uri, const peer_options& options, bool wait);
  std::unique_ptr<outbound> make_outbound();
  /// Its counters shall be part of ours, now and later.
  void follow(std::shared_ptr<const message_queue> queue) { counts_.follow(std::move(queue)); }
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

  const endpoint_options& options() const noexcept { return options_; }
  /// What `check` has found wrong with the options this was made from; then it is closed.
  const expected<void>& fault() const noexcept { return fault_; }

  bool closed() const noexcept { return closed_.load(std::memory_order_acquire); }
  void close(std::chrono::nanoseconds timeout) noexcept;
  void close() noexcept { close(options_.close_timeout); }

private:
  /// Its runs hold what `last` has published.
  struct lendable {
    std::unique_ptr<outbound> out;
    std::thread::id last;
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
  std::atomic<lendable*> at_hand_{nullptr}; // the one given back last
  std::mutex idle_mutex_;                   // guards the following
  std::vector<std::unique_ptr<lendable>> all_;
  std::vector<lendable*> idle_;
  std::atomic<bool> closed_{false};
};

} // namespace pubsub
