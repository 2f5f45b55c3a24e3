// SPDX-License-Identifier: BSD-3-Clause
#include "base/probe.hpp"

#ifdef PUBSUB_HAS_PROBES

volatile unsigned short pubsub_publish_semaphore, pubsub_hop_semaphore, pubsub_deliver_semaphore,
    pubsub_drop_semaphore;

namespace pubsub {

void fire_hop(std::string_view topic, std::uint64_t messages, std::uint64_t bytes,
              std::uint64_t links) noexcept {
  PUBSUB_PROBE(hop, topic, messages, bytes, links);
}

void fire_deliver(std::string_view topic, std::uint64_t messages, std::uint64_t bytes) noexcept {
  PUBSUB_PROBE(deliver, topic, messages, bytes);
}

void fire_drop(std::string_view topic, std::uint64_t messages, const char* reason) noexcept {
  PUBSUB_PROBE(drop, topic, messages, reason);
}

} // namespace pubsub

#endif
