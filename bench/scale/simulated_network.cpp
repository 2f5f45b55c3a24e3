// SPDX-License-Identifier: BSD-3-Clause
#include "scale/simulated_network.hpp"

#include <algorithm>

#include <malloc.h>

namespace pubsub::scale {

endpoint_options options_of_relay() {
  endpoint_options result;
  result.forwarding = forwarding::on;
  result.max_half_open = 100'000;
  result.liveness_timeout = std::chrono::hours{24 * 365};
  result.handshake_timeout = std::chrono::hours{24 * 365};
  return result;
}

simulated_network::simulated_network(const topology& shape, std::uint64_t seed)
    : shape_(shape), ids_(seed) {
  for (std::size_t n = 0; n < shape.relays; ++n)
    add_relay();
}

simulated_network::~simulated_network() {
  for (const auto& each : lines_)
    for (const auto& link : each->links)
      if (link)
        link->on_output = {};
}

std::size_t simulated_network::add_relay() {
  auto& fresh = relays_.emplace_back();
  endpoint_id::bytes_type id{};
  std::ranges::generate(id, [&] { return static_cast<std::uint8_t>(ids_()); });
  fresh.node = std::make_unique<test::fake_node>(endpoint_id{id}, options_of_relay());
  fresh.node->loop = loop_;
  const auto place = relays_.size() - 1;
  const auto later = [this, place](std::chrono::nanoseconds delay) {
    loop_->post_after(delay, [this, place] {
      if (relays_[place].node)
        relays_[place].node->routes.report_more();
    });
  };
  fresh.node->routes.report_later_by(later, [this] { return loop_->now(); });
  return place;
}

void simulated_network::join(std::size_t x, std::size_t y) {
  auto fresh = std::make_shared<line>();
  fresh->ends[0] = x;
  fresh->ends[1] = y;
  lines_.push_back(fresh);
  for (const int end : {0, 1}) {
    const auto role = end == 0 ? wire::tcp_role::connecting : wire::tcp_role::accepting;
    fresh->links[end] = node(fresh->ends[end]).connect(role);
    fresh->links[end]->on_output = [this, weak = std::weak_ptr{fresh}, end] {
      if (const auto over = weak.lock())
        note_output(over, end);
    };
    note_output(fresh, end); // what it has said already
  }
}

void simulated_network::note_output(const std::shared_ptr<line>& over, int end) {
  if (std::exchange(over->due[end], true) || !over->whole)
    return;
  ++under_way_;
  loop_->post([this, over, end] {
    carry(over, end);
    --under_way_;
  });
}

void simulated_network::carry(const std::shared_ptr<line>& over, int end) {
  over->due[end] = false;
  auto bytes = over->links[end]->take_written();
  if (bytes.empty() || !over->whole)
    return;
  auto& sent = relays_[over->ends[end]].sent;
  sent.bytes += bytes.size();
  sent.frames += test::frames_of(bytes).size();
  ++under_way_;
  loop_->post_after(hop_time, [this, over, end, bytes = std::move(bytes)] {
    --under_way_;
    if (!over->whole)
      return;
    reached_.insert(over->ends[1 - end]);
    over->links[1 - end]->receive(bytes);
    note_output(over, 1 - end); // credit
  });
}

void simulated_network::settle(const std::function<void(const std::set<std::size_t>&)>& look) {
  constexpr int moments_of_rest = 500; // in which nodes read on that have put that off
  for (int rest = 0; rest < moments_of_rest;) {
    loop_->advance(hop_time);
    rest = under_way_ > 0 ? 0 : rest + 1;
    if (look && !reached_.empty())
      look(reached_);
    reached_.clear();
  }
}

void simulated_network::pass(std::chrono::nanoseconds time) {
  for (const auto end = now() + time; now() < end;)
    loop_->advance(hop_time);
}

void simulated_network::cut(std::size_t x, std::size_t y) {
  for (const auto& each : lines_)
    if (each->whole && std::minmax(each->ends[0], each->ends[1]) == std::minmax(x, y)) {
      each->whole = false;
      for (const auto& link : each->links)
        link->end({errc::peer_unavailable, "the wire was cut"});
    }
}

std::vector<wire_ends> simulated_network::cut_off(const std::set<std::size_t>& part) {
  std::vector<wire_ends> result;
  for (const auto& each : lines_)
    if (each->whole && part.contains(each->ends[0]) != part.contains(each->ends[1]))
      result.emplace_back(each->ends[0], each->ends[1]);
  for (const auto& [x, y] : result)
    cut(x, y);
  return result;
}

traffic simulated_network::sent() const {
  traffic sum;
  for (const auto& each : relays_) {
    sum.frames += each.sent.frames;
    sum.bytes += each.sent.bytes;
  }
  return sum;
}

std::uint64_t simulated_network::most_bytes_of_one() const {
  std::uint64_t most = 0;
  for (const auto& each : relays_)
    most = std::max(most, each.sent.bytes);
  return most;
}

void simulated_network::forget_traffic() {
  for (auto& each : relays_)
    each.sent = {};
}

std::size_t simulated_network::route_length(std::size_t from, std::size_t to) {
  std::size_t hops = 0;
  for (auto at = from; at != to; ++hops) {
    const auto picture = node(at).routes.snapshot();
    const auto next = picture->next_links->find(node(to).self);
    if (next == picture->next_links->end() || hops >= size())
      return 0;
    const auto over = std::ranges::find_if(lines_, [&](const auto& each) {
      return each->links[0] == next->second || each->links[1] == next->second;
    });
    at = (*over)->links[0] == next->second ? (*over)->ends[1] : (*over)->ends[0];
  }
  return hops;
}

std::size_t simulated_network::remove_and_weigh(std::size_t relay) {
  for (const auto& each : lines_)
    for (const int end : {0, 1})
      if (each->ends[end] == relay) {
        each->whole = false;
        each->links[end]->on_output = {};
      }
  const auto before = mallinfo2().uordblks;
  relays_[relay].node.reset();
  for (const auto& each : lines_)
    for (const int end : {0, 1})
      if (each->ends[end] == relay)
        each->links[end].reset();
  return before - mallinfo2().uordblks;
}

} // namespace pubsub::scale
