// Messages whose route has changed wait, until those before them have arrived.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "link/peer_link.hpp"
#include "node/flow/tuning.hpp"
#include "node/routing/route_flush.hpp"
#include "node/routing/tuning.hpp"

namespace pubsub {

struct announced_topics;

/// What waits: a frame of version 1 with a message, a batch with its topics, or a flush.
struct held_frame {
  enum class kind : std::uint8_t { message, batch, flush };

  kind what;
  intrusive_ptr<chunk> owner;
  std::span<std::byte> bytes;
  std::shared_ptr<announced_topics> topics; // of a batch
};

/// What has come over one link and waits, in a place for each number of hops that it has come;
/// frames of version 1 wait in the first place. Thread-safety: the link's loop.
class holding {
public:
  /// `call_back`: `go_on` shall be called on the loop, now or after that time. Thread-safe.
  holding(std::shared_ptr<peer_link> via, route_flushes& flushes,
          std::function<void(std::chrono::nanoseconds)> call_back)
      : via_(std::move(via)), flushes_(flushes), call_back_(std::move(call_back)) {}

  bool active(std::size_t place) const noexcept { return !places_[place].flushes.empty(); }
  /// The messages of this place take another route from now on, once what took `path` has arrived.
  void begin(std::size_t place, retired_route path) {
    if (!ended_)
      places_[place].flushes.push_back(
          flushes_.begin(std::move(path), [call = call_back_] { call({}); }));
  }
  /// The place is active. The sender gets no more credit, or is not read from.
  void add(std::size_t place, held_frame frame) {
    auto& frames = places_[place].frames;
    if (frames.empty())
      via_->gate(place).pause();
    frames.push_back(std::move(frame));
  }
  /// As `add`, for a flush; not where too many wait.
  void add_flush(std::size_t place, held_frame frame) {
    auto& waiting = places_[place].flush_bytes;
    if (waiting + frame.bytes.size() > flow_tuning::max_waiting_flush_bytes)
      return;
    waiting += frame.bytes.size();
    add(place, std::move(frame));
  }
  /// Looks whether frames may go on: calls `refresh`, which may begin to hold again, and then
  /// `route` for each frame, in the order in which they came.
  template <class Refresh, class Route>
  void go_on(Refresh refresh, Route route) {
    for (std::size_t number = 0; number < places_.size(); ++number) {
      auto& [flushes, frames, flush_bytes] = places_[number];
      std::erase_if(flushes, [&](const auto& flush) { return ended_ || flush->settled(); });
      if (frames.empty())
        continue;
      while (!frames.empty()) {
        refresh();
        if (!flushes.empty())
          break;
        auto frame = std::move(frames.front());
        frames.pop_front();
        route(frame);
      }
      if (!frames.empty())
        continue;
      flush_bytes = 0;
      via_->gate(number).resume();
    }
    call_back_if_active();
  }
  /// The link is closed: from now on nothing waits; call `go_on` once more.
  void end() noexcept { ended_ = true; }
  /// Flushes are sent again, and do not wait for ever.
  void call_back_if_active() const {
    if (std::ranges::any_of(places_, [](const auto& each) { return !each.flushes.empty(); }))
      call_back_(routing_tuning::time_between_flushes);
  }

private:
  struct held_place {
    std::vector<std::shared_ptr<route_flush>> flushes;
    std::deque<held_frame> frames;
    std::size_t flush_bytes = 0; // of the flushes among the frames
  };

  const std::shared_ptr<peer_link> via_;
  route_flushes& flushes_;
  const std::function<void(std::chrono::nanoseconds)> call_back_;
  std::array<held_place, wire::max_hops> places_;
  bool ended_ = false;
};

} // namespace pubsub
