// Requests, of which a window is under way, and their replies, counted.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <stdexcept>

#include "support/run_options.hpp"
#include "support/run_state.hpp"

namespace bench {

inline constexpr std::size_t request_bytes = 9; ///< as a count takes in our encoding
/// As ours has, unless told otherwise.
inline constexpr std::uint64_t request_window = 1'000;

inline void check_reply(std::size_t bytes, const run_options& options) {
  if (bytes != options.payload_bytes)
    throw std::runtime_error("a reply is not what was asked for");
}

/// Sends requests for as long as the options say, and waits for all replies. `receive` waits for
/// one at least and returns how many it has taken.
template <class Send, class Receive>
void ask(run_state& state, const run_options& options, std::uint64_t window, Send send,
         Receive receive) {
  using clock = std::chrono::steady_clock;
  const auto begin = clock::now();
  const auto end = begin + std::chrono::duration<double>(options.duration_s);
  std::uint64_t asked = 0;
  std::uint64_t answered = 0;
  for (bool more = true; more || answered < asked; more = more && clock::now() < end) {
    while (more && asked - answered < window) {
      send();
      ++asked;
    }
    answered += receive();
    state.delivered.store(answered, std::memory_order_relaxed);
  }
  state.seconds = std::chrono::duration<double>(clock::now() - begin).count();
  state.published = asked;
  state.delivered = answered;
  state.ended = true;
}

} // namespace bench
