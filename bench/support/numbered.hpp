// Numbered messages: what a publisher sends for a while, and what a subscriber checks.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstdint>
#include <cstring>
#include <span>
#include <stdexcept>
#include <thread>
#include <vector>

#include "support/run_options.hpp"
#include "support/run_state.hpp"

namespace bench {

/// A message starts with its number. These two numbers are no messages of the stream:
constexpr std::uint64_t end_mark = ~std::uint64_t{0};
constexpr std::uint64_t probe_mark = end_mark - 1; ///< asks whether the way is open

inline std::uint64_t number_of(const void* message) {
  std::uint64_t number = 0;
  std::memcpy(&number, message, sizeof number);
  return number;
}

/// Keeps the subscriber's books. Not thread-safe.
class numbered_sink {
public:
  numbered_sink(run_state& state, const run_options& options)
      : state_(state), repeated_(options.repeated()) {}

  /// False once the end mark has come.
  bool take(const void* message) {
    auto number = number_of(message);
    if (number >= probe_mark)
      return take_mark(number);
    if (delivered_++ == 0)
      first_ = clock::now();
    if (!repeated_) {
      disordered_ += number != expected_;
      expected_ = number + 1;
    }
    if (delivered_ % told_every == 0)
      state_.delivered.store(delivered_, std::memory_order_relaxed);
    return true;
  }

private:
  using clock = std::chrono::steady_clock;
  static constexpr std::uint64_t told_every = 64;

  bool take_mark(std::uint64_t number) {
    if (number == probe_mark) {
      state_.probe_seen = true;
      return true;
    }
    state_.seconds = std::chrono::duration<double>(clock::now() - first_).count();
    state_.disordered = disordered_;
    state_.delivered = delivered_;
    state_.ended = true;
    return false;
  }

  run_state& state_;
  bool repeated_;
  std::uint64_t delivered_ = 0;
  std::uint64_t expected_ = 0;
  std::uint64_t disordered_ = 0;
  clock::time_point first_;
};

/// Sends probes until the subscriber has seen one: for peers that lose what nobody waits for yet.
template <class Send>
void probe_until_seen(run_state& state, std::size_t payload_bytes, Send send) {
  std::vector<std::byte> message(payload_bytes);
  std::memcpy(message.data(), &probe_mark, sizeof probe_mark);
  for (int i = 0; !state.probe_seen; ++i) {
    if (i == 1000)
      throw std::runtime_error("no probe arrived");
    send(std::span<const std::byte>{message});
    std::this_thread::sleep_for(std::chrono::milliseconds{20});
  }
}

/// Sends a stream for as long as the options say and ends it with the end mark. At most `window`
/// messages are on their way at a time (0: as many as the peer takes): for peers that drop messages
/// rather than make a publisher wait. What has arrived is read from shared memory, which costs the
/// peer nothing. A repeated message always has the number 0. Returns when the subscriber has seen
/// the end, so that nothing is cut off by closing.
template <class Send>
void publish_stream(run_state& state, const run_options& options, std::uint64_t window, Send send) {
  using clock = std::chrono::steady_clock;
  std::vector<std::byte> message(options.payload_bytes, std::byte{'x'});
  std::memset(message.data(), 0, sizeof(std::uint64_t));
  auto end = clock::now() + std::chrono::duration<double>(options.duration_s);
  std::uint64_t number = 0;
  for (;; ++number) {
    if (number % 64 == 0) {
      if (clock::now() >= end)
        break;
      if (window > 0 && number + 64 > window)
        state.wait_for_delivered(number + 64 - window);
    }
    if (!options.repeated())
      std::memcpy(message.data(), &number, sizeof number);
    send(std::span<const std::byte>{message});
  }
  state.published = number;
  std::memcpy(message.data(), &end_mark, sizeof end_mark);
  send(std::span<const std::byte>{message});
  state.wait_for_end();
}

} // namespace bench
