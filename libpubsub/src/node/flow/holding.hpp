// Messages whose route has changed wait, until those before them have arrived.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <functional>
#include <memory>
#include <set>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "link/peer_link.hpp"
#include "node/flow/tuning.hpp"
#include "node/routing/route_flush.hpp"
#include "node/routing/tuning.hpp"

namespace pubsub {

struct announced_topics;

/// Messages of one stream stay in order; those of a Broker peer are one.
using stream_name = std::pair<endpoint_id, std::uint32_t>;

/// What waits: a frame of version 1 with a message, a batch with its topics, or a flush.
struct held_frame {
  enum class kind : std::uint8_t { message, batch, flush };

  kind what;
  intrusive_ptr<chunk> owner;
  std::span<std::byte> bytes;
  std::shared_ptr<announced_topics> topics; // of a batch
  stream_name stream;                       // of messages
};

/// What has come over one link and waits, in a place for each number of hops that it has come;
/// frames of version 1 wait in the first place. A message waits if it is for a node whose route has
/// changed, or if one of its stream waits before it; a flush, if anything waits before it or it is
/// for such a node. So a node that answers no flush holds up nothing that is for others.
/// Thread-safety: the link's loop.
class holding {
public:
  using node_counts = std::unordered_map<endpoint_id, unsigned>;

  /// `call_back`: `go_on` shall be called on the loop, now or after that time. Thread-safe.
  holding(std::shared_ptr<peer_link> via, route_flushes& flushes,
          std::function<void(std::chrono::nanoseconds)> call_back)
      : via_(std::move(via)), flushes_(flushes), call_back_(std::move(call_back)) {}

  /// Whether anything may have to wait in this place.
  bool active(std::size_t place) const noexcept {
    const auto& here = places_[place];
    return here && (!here->flushes.empty() || !here->frames.empty());
  }
  /// Whether anything may have to wait in any place.
  bool any_active() const noexcept {
    for (std::size_t place = 0; place < places_.size(); ++place)
      if (active(place))
        return true;
    return false;
  }
  /// Whether any frame waits.
  bool any() const noexcept {
    return std::ranges::any_of(places_,
                               [](const auto& each) { return each && !each->frames.empty(); });
  }
  /// Asked where the place is active. `is_for`: whether the messages are for any of these nodes.
  template <class IsFor>
  bool must_wait(std::size_t place, const stream_name& stream, IsFor is_for) const {
    const auto& here = *places_[place];
    return here.streams.contains(stream) || (!here.awaited.empty() && is_for(here.awaited));
  }
  /// The same for a flush.
  bool must_wait(std::size_t place, const flush_request& flush) const {
    const auto& here = places_[place];
    return here && (!here->frames.empty() || std::ranges::any_of(flush.to, [&](const auto& node) {
             return here->awaited.contains(node);
           }));
  }
  /// The messages of this place for these nodes take another route from now on, once what took
  /// `path` has arrived.
  void begin(std::size_t place, retired_route path) {
    if (ended_)
      return;
    auto& here = at(place);
    for (const auto& node : path.nodes)
      ++here.awaited[node];
    auto nodes = path.nodes;
    here.flushes.push_back(
        {flushes_.begin(std::move(path), [call = call_back_] { call({}); }), std::move(nodes)});
  }
  /// The frame must wait. The sender gets no more credit, or is not read from.
  void add(std::size_t place, held_frame frame) {
    auto& here = at(place);
    if (here.frames.empty())
      via_->gate(place).pause();
    keep(here, std::move(frame));
  }
  /// As `add`, for a flush; not where too many wait.
  void add_flush(std::size_t place, held_frame frame) {
    auto& waiting = at(place).flush_bytes;
    if (waiting + frame.bytes.size() > flow_tuning::max_waiting_flush_bytes)
      return;
    waiting += frame.bytes.size();
    add(place, std::move(frame));
  }
  /// Looks whether frames may go on, in the order in which they came: calls `refresh`, which may
  /// begin to hold again, then `must_wait` for each frame, and `route` for those that need not.
  template <class Refresh, class MustWait, class Route>
  void go_on(Refresh refresh, MustWait must_wait, Route route) {
    for (std::size_t number = 0; number < places_.size(); ++number) {
      if (!places_[number])
        continue;
      auto& here = *places_[number];
      forget_settled(here);
      if (here.frames.empty())
        continue;
      auto frames = std::exchange(here.frames, {});
      here.streams.clear();
      for (auto& frame : frames) {
        refresh();
        if (!ended_ && must_wait(number, frame))
          keep(here, std::move(frame));
        else
          route(frame);
      }
      if (!here.frames.empty())
        continue;
      here.flush_bytes = 0;
      via_->gate(number).resume();
    }
    call_back_if_active();
  }
  /// The link is closed: from now on nothing waits; call `go_on` once more.
  void end() noexcept { ended_ = true; }
  /// Flushes are sent again, and do not wait for ever.
  void call_back_if_active() const {
    if (std::ranges::any_of(places_,
                            [](const auto& each) { return each && !each->flushes.empty(); }))
      call_back_(routing_tuning::time_between_flushes);
  }

private:
  struct open_flush {
    std::shared_ptr<route_flush> flush;
    std::vector<endpoint_id> nodes;
  };
  struct held_place {
    std::vector<open_flush> flushes;
    node_counts awaited;            // of the flushes
    std::vector<held_frame> frames; // a deque would cost half a kilobyte while it is empty
    std::set<stream_name> streams;  // of the frames
    std::size_t flush_bytes = 0;    // of the flushes among the frames
  };

  held_place& at(std::size_t place) {
    if (!places_[place])
      places_[place] = std::make_unique<held_place>();
    return *places_[place];
  }
  static void keep(held_place& here, held_frame frame) {
    if (frame.what != held_frame::kind::flush)
      here.streams.insert(frame.stream);
    here.frames.push_back(std::move(frame));
  }
  void forget_settled(held_place& here) const {
    std::erase_if(here.flushes, [&](const auto& each) {
      if (!ended_ && !each.flush->settled())
        return false;
      for (const auto& node : each.nodes)
        if (const auto found = here.awaited.find(node); --found->second == 0)
          here.awaited.erase(found);
      return true;
    });
  }

  const std::shared_ptr<peer_link> via_;
  route_flushes& flushes_;
  const std::function<void(std::chrono::nanoseconds)> call_back_;
  std::array<std::unique_ptr<held_place>, wire::max_hops> places_; // where anything ever waited
  bool ended_ = false;
};

} // namespace pubsub
