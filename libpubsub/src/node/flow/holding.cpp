#include "node/flow/holding.hpp"

#include <algorithm>

#include "node/flow/tuning.hpp"
#include "node/routing/tuning.hpp"

namespace pubsub {

void holding::begin(std::size_t place, retired_route path) {
  if (!ended_)
    places_[place].flushes.push_back(
        flushes_.begin(std::move(path), [call = call_back_] { call({}); }));
}

void holding::add(std::size_t place, held_frame frame) {
  auto& frames = places_[place].frames;
  if (frames.empty())
    via_->gate(place).pause();
  frames.push_back(std::move(frame));
}

void holding::add_flush(std::size_t place, held_frame frame) {
  auto& waiting = places_[place].flush_bytes;
  if (waiting + frame.bytes.size() > flow_tuning::max_waiting_flush_bytes)
    return;
  waiting += frame.bytes.size();
  add(place, std::move(frame));
}

void holding::call_back_if_active() const {
  if (std::ranges::any_of(places_, [](const auto& each) { return !each.flushes.empty(); }))
    call_back_(routing_tuning::time_between_flushes);
}

} // namespace pubsub
