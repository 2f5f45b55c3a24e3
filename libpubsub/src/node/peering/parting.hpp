// The end of a peering in good order: what has gone over the link arrives where it is for before
// the link goes, and what follows on another route does not overtake it.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <pubsub/value/endpoint_id.hpp>

#include "base/byte_writer.hpp"
#include "link/peer_link.hpp"
#include "node/peering/tuning.hpp"
#include "node/routing/router.hpp"
#include "node/routing/tuning.hpp"
#include "wire/broker/envelope.hpp"

namespace pubsub {

/// Our goodbye, or the answer to the peer's: a ping or pong that is sent when the nodes reached
/// over this link have got what went to them, or patience ends. Thread-safety: the link's loop.
class parting {
public:
  /// `call_back`: `go_on` shall be called on the loop, now or after that time. Thread-safe.
  parting(const endpoint_id& self, const endpoint_id& remote, std::shared_ptr<peer_link> via,
          router& routes, std::function<void(std::chrono::nanoseconds)> call_back)
      : self_(self), remote_(remote), via_(std::move(via)), routes_(routes),
        call_back_(std::move(call_back)) {}

  /// This side leaves, and the routes avoid the link already; `behind`: the nodes that were reached
  /// over it. False if it has left before.
  bool leave(std::chrono::nanoseconds patience, const std::vector<endpoint_id>& behind) {
    if (std::exchange(leaving_, true))
      return false;
    goodbye_ = make_goodbye();
    flush(std::min(patience, peering_tuning::longest_patience), behind,
          [this] { via_->push_last(wire::make_ping(self_, remote_, goodbye_)); });
    return true;
  }
  bool leaving() const noexcept { return leaving_; }
  /// Whether the peer has said goodbye.
  bool left() const noexcept { return left_; }
  /// Whether a pong with this payload answers our goodbye.
  bool is_answer(std::span<const std::byte> payload) const {
    return leaving_ && std::ranges::equal(payload, goodbye_);
  }

  static bool is_goodbye(std::span<const std::byte> payload) {
    return payload.size() == mark.size() + token_bytes &&
           std::ranges::equal(payload.first(mark.size()), std::as_bytes(std::span{mark}));
  }
  /// The peer leaves, with a ping of this payload: from now on the routes avoid the link.
  /// The answer comes behind what waits for the peer.
  void answer(std::span<const std::byte> payload) {
    const auto pong = wire::make_pong(self_, remote_, payload);
    if (std::exchange(left_, true)) { // again: the first goodbye may be waiting still
      if (last_words_.empty())
        via_->push_answer(pong);
      return;
    }
    flush(peering_tuning::patience_of_those_left, routes_.remove_peer(remote_),
          [this, pong] { via_->push_last(pong); });
  }

  void go_on() {
    if (last_words_.empty())
      return;
    std::erase_if(flushes_, [](const auto& flush) { return flush->settled(); });
    if (!flushes_.empty() && via_->now() < until_)
      return call_back_(routing_tuning::time_between_flushes);
    flushes_.clear();
    for (const auto& say : std::exchange(last_words_, {}))
      say();
  }

private:
  static constexpr std::string_view mark = "BYE";
  static constexpr std::size_t token_bytes = 8; // which only this side interprets

  static std::vector<std::byte> make_goodbye() {
    const auto random = endpoint_id::random();
    const auto token = std::as_bytes(std::span{random.bytes()}).first(token_bytes);
    return byte_writer{}.add_bytes(std::as_bytes(std::span{mark})).add_bytes(token).take();
  }
  /// (Version 1 has no flushes, and no nodes behind a peer.)
  void flush(std::chrono::nanoseconds patience, const std::vector<endpoint_id>& behind,
             std::function<void()> last_words) {
    via_->out().refuse_publishers(); // they know of a route without this link
    until_ = via_->now() + patience;
    last_words_.push_back(std::move(last_words));
    for (std::size_t hops = 0; hops < wire::max_hops && !behind.empty(); ++hops)
      if (via_->find(hops) != nullptr)
        flushes_.push_back(
            routes_.flushes().begin({via_, hops, behind}, [call = call_back_] { call({}); }));
    go_on();
  }

  const endpoint_id self_;
  const endpoint_id remote_;
  const std::shared_ptr<peer_link> via_;
  router& routes_;
  const std::function<void(std::chrono::nanoseconds)> call_back_;
  bool leaving_ = false;
  std::vector<std::byte> goodbye_; // ours, once we leave
  bool left_ = false;              // by the peer
  std::vector<std::shared_ptr<route_flush>> flushes_;
  peer_link::clock::time_point until_;
  std::vector<std::function<void()>> last_words_; // wait for the flushes
};

} // namespace pubsub
