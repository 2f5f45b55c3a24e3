// Questions about nodes at any distance, and about where a message goes: answered, passed on, or
// taken apart, as they come.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include <pubsub/endpoint_options.hpp>

#include "node/peering/session.hpp"
#include "node/routing/router.hpp"

namespace pubsub {

/// An inquiry about a node is passed on towards it, link by link, and the reply comes back the same
/// way. A trace is asked of every link that the message would take; the answers of those behind it
/// are put together at each node. A node that passes a question on gives up a little before the one
/// that asked it, and so can say where it is stuck. Peers need the right to inspect, unless they
/// ask how this node itself is. Thread-safe.
class node_inquiries {
public:
  /// What this node tells of itself, or of the network: JSON of at most that many bytes.
  using tell = std::function<std::string(wire::inquiry_subject, std::size_t max_bytes)>;

  struct environment {
    endpoint_id self;
    const endpoint_options* options = nullptr;
    router* routes = nullptr;
    std::function<std::shared_ptr<session>(const endpoint_id&)> session_of;
    std::function<std::shared_ptr<session>(const peer_link&)> session_over;
    std::function<void(std::chrono::nanoseconds)> look_later; // `give_up_late_ones` after that time
  };
  explicit node_inquiries(environment env) : env_(std::move(env)) {}

  /// Until then this node tells nothing.
  void tell_by(tell make) { tell_ = std::move(make); }
  /// Asked by this endpoint: waits for the reply.
  wire::reply ask(wire::inquiry what, const deadline& until);
  /// Asked by the peer of `from`, or by this endpoint (null): `done` gets the reply, once.
  void take(const wire::inquiry& what, const std::shared_ptr<session>& from,
            inquiries::settle done);
  void give_up_late_ones();

private:
  using time = std::chrono::steady_clock::time_point;
  class gathering;
  using key = std::pair<time, std::uint64_t>; // when its time is over, and a number
  struct open_question {
    std::weak_ptr<session> to;
    std::uint32_t number = 0; // 0 while it is being asked
  };

  bool may_inspect(const session* from) const;
  std::shared_ptr<session> next_towards(const endpoint_id& node) const;
  void pass_on(wire::inquiry what, const std::shared_ptr<session>& to, inquiries::settle done);
  void trace(const wire::inquiry& what, const std::shared_ptr<session>& from,
             inquiries::settle done);
  void look_until(std::unique_lock<std::mutex> lock, time first);

  const environment env_;
  tell tell_;
  std::mutex mutex_; // guards the following
  std::map<key, open_question> open_;
  std::uint64_t last_key_ = 0;
  time next_look_ = time::max();
};

} // namespace pubsub
