// The end of a peering in good order: what has gone over the link arrives where it is for before
// the link goes, and what follows on another route does not overtake it.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include <pubsub/value/endpoint_id.hpp>

#include "link/peer_link.hpp"
#include "node/routing/router.hpp"

namespace pubsub {

/// Our goodbye, or the answer to the peer's: a ping or pong that is sent when the nodes reached
/// over this link have got what went to them, or patience ends. Thread-safety: the link's loop.
class parting {
public:
  /// `call_back`: `go_on` shall be called on the loop, now or after that time. Thread-safe.
  parting(const endpoint_id& self, const endpoint_id& remote, std::shared_ptr<peer_link> via,
          router& routes, std::function<void(std::chrono::nanoseconds)> call_back);

  /// This side leaves, and the routes avoid the link already; `behind`: the nodes that were reached
  /// over it. False if it has left before.
  bool leave(std::chrono::nanoseconds patience, const std::vector<endpoint_id>& behind);
  bool leaving() const noexcept { return leaving_; }
  /// Whether a pong with this payload answers our goodbye.
  bool is_answer(std::span<const std::byte> payload) const;

  static bool is_goodbye(std::span<const std::byte> payload);
  /// The peer leaves, with a ping of this payload: from now on the routes avoid the link.
  void answer(std::span<const std::byte> payload);

  void go_on();

private:
  void flush(std::chrono::nanoseconds patience, const std::vector<endpoint_id>& behind,
             std::function<void()> last_words);

  const endpoint_id self_;
  const endpoint_id remote_;
  const std::shared_ptr<peer_link> via_;
  router& routes_;
  const std::function<void(std::chrono::nanoseconds)> call_back_;
  const std::vector<std::byte> goodbye_;
  bool leaving_ = false;
  bool left_ = false; // by the peer
  std::vector<std::shared_ptr<route_flush>> flushes_;
  peer_link::clock::time_point until_;
  std::vector<std::function<void()>> last_words_; // wait for the flushes
};

} // namespace pubsub
