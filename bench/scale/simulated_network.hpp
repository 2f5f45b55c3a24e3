// A network of whole nodes in one thread: real routing, peering and frames, virtual wires and time.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <set>
#include <vector>

#include "scale/topologies.hpp"
#include "support/fake_node.hpp"

namespace pubsub::scale {

/// What has gone over the wires.
struct traffic {
  std::uint64_t frames = 0;
  std::uint64_t bytes = 0;
};

/// What is told once in a while by a link on which nothing happens is no part of the picture; and
/// all relays connect in one moment, from one address, and do not try again.
endpoint_options options_of_relay();

/// Every relay is a node as it is in a program, but for sockets and threads. What it writes at one
/// moment arrives at the other end of the wire one hop time later. Not thread-safe.
class simulated_network {
public:
  static constexpr std::chrono::nanoseconds hop_time = std::chrono::milliseconds{1};

  /// The same seed gives the relays the same ids, on which the choice among equal paths depends.
  simulated_network(const topology& shape, std::uint64_t seed);
  ~simulated_network();
  simulated_network(const simulated_network&) = delete;
  simulated_network& operator=(const simulated_network&) = delete;

  std::size_t size() const noexcept { return relays_.size(); }
  test::fake_node& node(std::size_t relay) { return *relays_[relay].node; }
  /// Another relay, without wires.
  std::size_t add_relay();
  /// They connect: their handshake begins.
  void join(std::size_t x, std::size_t y);
  void join_all() {
    for (const auto& [x, y] : shape_.wires)
      join(x, y);
  }
  /// Cuts all wires between relays of which one is in the part, the other not. Returns those.
  std::vector<wire_ends> cut_off(const std::set<std::size_t>& part);
  /// The connection breaks; both ends hear of it at once.
  void cut(std::size_t x, std::size_t y);

  /// Lets time pass until nothing is under way any more. Calls `look` after each moment in which
  /// something has arrived, with the relays where.
  void settle(const std::function<void(const std::set<std::size_t>&)>& look = {});
  /// Lets so much time pass.
  void pass(std::chrono::nanoseconds time);
  std::chrono::nanoseconds now() const { return loop_->now() - begin_; }
  /// Of one relay, or of all, since the last `forget_traffic`.
  const traffic& sent_by(std::size_t relay) const { return relays_[relay].sent; }
  traffic sent() const;
  std::uint64_t most_bytes_of_one() const;
  void forget_traffic();

  /// How many wires a message takes from one relay to another; 0: it would not arrive.
  std::size_t route_length(std::size_t from, std::size_t to);
  /// Whether the relay knows a route to all others.
  bool reaches_all(std::size_t relay) {
    return node(relay).routes.snapshot()->next_links->size() + 1 == size();
  }
  /// Bytes on the heap that end with this relay. It is gone afterwards, unheard by the others.
  std::size_t remove_and_weigh(std::size_t relay);

private:
  struct simulated_relay {
    std::unique_ptr<test::fake_node> node;
    traffic sent;
  };
  struct line {
    std::size_t ends[2];
    std::shared_ptr<test::fake_link> links[2];
    bool due[2] = {false, false}; // something is to be taken from that end in this moment
    bool whole = true;
  };

  void note_output(const std::shared_ptr<line>& over, int end);
  void carry(const std::shared_ptr<line>& over, int end);

  const topology shape_;
  std::mt19937_64 ids_;
  const std::shared_ptr<test::fake_loop> loop_ = std::make_shared<test::fake_loop>();
  const test::fake_loop::time_point begin_ = loop_->now();
  std::vector<simulated_relay> relays_;
  std::vector<std::shared_ptr<line>> lines_;
  std::set<std::size_t> reached_; // in the moment at hand
  std::size_t under_way_ = 0;
};

} // namespace pubsub::scale
