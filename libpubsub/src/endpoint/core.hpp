// Everything an endpoint consists of; the public handles share it.
#pragma once

#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include <pubsub/endpoint.hpp>

#include "endpoint/outbound.hpp"
#include "endpoint/peering.hpp"
#include "endpoint/router.hpp"
#include "endpoint/status_queue.hpp"
#include "endpoint/tally.hpp"

namespace pubsub {

/// Owns the router, the peering and the counters. Thread-safe.
class endpoint_core {
public:
  explicit endpoint_core(endpoint_options options);
  ~endpoint_core();

  const endpoint_id& id() const noexcept { return id_; }
  router& routes() noexcept { return routes_; }
  peering& peers() noexcept { return *peering_; }
  status_hub& events() noexcept { return events_; }
  endpoint_counters counters() const { return counts_.sum(); }

  std::unique_ptr<outbound> make_outbound();
  /// Lends an outbound to a thread that has none of its own.
  template <class F>
  publish_result with_outbound(F&& publish) {
    auto mine = borrow();
    const auto result = publish(*mine);
    give_back(std::move(mine));
    return result;
  }

  bool closed() const noexcept { return closed_.load(std::memory_order_acquire); }
  void close(std::chrono::milliseconds timeout) noexcept;
  void close() noexcept { close(options_.close_timeout); }

private:
  struct idle_outbound {
    std::thread::id last; // its runs hold what this thread has published
    std::unique_ptr<outbound> out;
  };

  std::unique_ptr<outbound> borrow();
  void give_back(std::unique_ptr<outbound> idle);

  const endpoint_options options_;
  const endpoint_id id_;
  tallies counts_;
  router routes_;
  status_hub events_;
  std::shared_ptr<peering> peering_;
  std::mutex idle_mutex_; // guards idle_
  std::vector<idle_outbound> idle_;
  std::atomic<bool> closed_{false};
};

} // namespace pubsub
