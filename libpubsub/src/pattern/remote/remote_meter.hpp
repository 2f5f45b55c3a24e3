// What a client learns of an operation, and of the network, from a reply. Pure.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

#include <pubsub/pattern/remote_options.hpp>

namespace pubsub::pattern {

/// A request that a client has sent.
struct sent_request {
  std::uint64_t operations = 0;
  std::uint64_t left = 0; ///< not answered
  std::size_t size_bytes = 0;
  std::chrono::steady_clock::time_point at{};
};

/// A reply to it, or to the last of several.
struct received_reply {
  std::chrono::steady_clock::time_point at{};
  std::chrono::nanoseconds here{0}; ///< since the request was sent, the server had it for so long
  std::chrono::nanoseconds busy{0}; ///< in handlers, of all operations in the reply
  std::uint64_t operations = 0;
  std::size_t size_bytes = 0;
  bool prompt = false; ///< a thread was waiting for it when it came
};

/// Adds to what is known of the operation. Averages follow what is measured. So does the latency
/// where a trip takes longer; a shorter one counts at once, since what disturbs a trip makes it
/// longer. Of long messages and of replies that lay unread only shorter trips count.
void measure(const sent_request& request, const received_reply& reply, remote_conditions& of);

} // namespace pubsub::pattern
