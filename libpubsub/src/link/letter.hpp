// Frames that routing has made, and the links they are for.
#pragma once

#include <memory>
#include <vector>

#include "link/peer_link.hpp"
#include "link/tuning.hpp"

namespace pubsub {

/// A frame for some peers. Routing returns letters; the caller delivers them.
struct letter {
  std::vector<std::shared_ptr<peer_link>> to;
  std::vector<std::byte> frame;
};
using letters = std::vector<letter>;

/// Pushes each frame before the messages that wait. A peer that does not read what it is sent about
/// the network loses its link. Never blocks.
inline void deliver(const letters& all) {
  for (const auto& [to, frame] : all)
    for (const auto& each : to)
      if (each->control_bytes() > link_tuning::max_unread_news_bytes)
        each->close({errc::limit_exceeded, "the peer does not read news of the network"});
      else
        each->push_control(frame);
}

} // namespace pubsub
