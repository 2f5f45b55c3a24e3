// Endpoints joined over loopback, as integration tests want them.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "support/eventually.hpp"

#include <pubsub/pubsub.hpp>

#include <doctest/doctest.h>

namespace pubsub::test {

/// Ways to peer: one attempt, and many until one succeeds.
inline const peer_options once{.retry = {}, .timeout = std::chrono::seconds{10}};
inline const peer_options soon{.retry = std::chrono::milliseconds{20},
                               .timeout = std::chrono::seconds{30}};

/// Of an endpoint with that name.
inline endpoint_options named(std::string name) {
  endpoint_options result;
  result.name = std::move(name);
  return result;
}

/// Of an endpoint that speaks no later version of the wire.
inline endpoint_options speaking(std::uint8_t version) {
  endpoint_options options;
  options.max_wire_version = version;
  return options;
}

/// Of an endpoint that is a relay, whether it listens or not.
inline endpoint_options forwarding_on(endpoint_options options = {}) {
  options.forwarding = forwarding::on;
  return options;
}

inline std::string local_uri(std::uint16_t port) {
  return "tcp://127.0.0.1:" + std::to_string(port);
}

/// Listens on a port of its own; the address to peer with.
inline std::string listen(endpoint& ep) {
  const auto port = ep.listen("tcp://127.0.0.1:0");
  REQUIRE(port.has_value());
  return local_uri(*port);
}

/// Peers `from` with `to`, both sides seeing it.
inline void join(endpoint& from, endpoint& to) {
  REQUIRE(from.peer(listen(to)).has_value());
  REQUIRE(to.wait_for_peer(from.id(), patience));
}

/// Relays in a row, each peered with the next.
struct chain {
  explicit chain(std::size_t nodes, const endpoint_options& options = {}) {
    for (std::size_t i = 0; i < nodes; ++i)
      all.push_back(std::make_unique<endpoint>(forwarding_on(options)));
    for (std::size_t i = 0; i + 1 < nodes; ++i)
      join(*all[i], *all[i + 1]);
  }
  endpoint& front() { return *all.front(); }
  endpoint& back() { return *all.back(); }

  std::vector<std::unique_ptr<endpoint>> all;
};

/// The next number a subscriber receives; fails the test where none comes.
inline std::uint64_t next_number(subscriber& sub) {
  const auto msg = sub.get_for(patience);
  REQUIRE(msg.has_value());
  const auto* number = get_data(*msg).get_if<count>();
  REQUIRE(number != nullptr);
  return *number;
}

/// True if `sub` receives exactly the numbers [0, n) in order, and nothing else up to then.
inline bool receives_in_order(subscriber& sub, std::uint64_t n) {
  std::vector<data_message> batch;
  for (std::uint64_t next = 0; next < n;) {
    batch.clear();
    if (sub.get_batch_for(batch, std::min<std::uint64_t>(4096, n - next), patience) !=
        receive_status::received)
      return false;
    for (const auto& msg : batch)
      if (get_view(msg).to_data() != data{count{next++}})
        return false;
  }
  return true;
}

inline bool adds_up(const subscriber_counters& x) {
  return x.offered == x.delivered + x.dropped() + x.filtered + x.queued;
}
inline bool adds_up(const link_counters& x) {
  return x.offered == x.sent + x.dropped() + x.queued;
}

/// The next event that `wanted` accepts; events before it go. Nothing after the deadline.
template <class Wanted>
std::optional<status> next_event(status_subscriber& events, Wanted wanted) {
  while (auto event = events.get_for(patience))
    if (wanted(*event))
      return std::move(*event);
  return {};
}
inline std::optional<status> next_event(status_subscriber& events, status_code code) {
  return next_event(events, [=](const status& x) { return !x.is_error() && x.code() == code; });
}
inline std::optional<status> next_error(status_subscriber& events) {
  return next_event(events, [](const status& x) { return x.is_error(); });
}

} // namespace pubsub::test
