// SPDX-License-Identifier: BSD-3-Clause
#include "support/run_state.hpp"

#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>

namespace bench {

namespace {

constexpr std::chrono::milliseconds glance{1};
constexpr std::chrono::seconds patience{10};

template <class Done>
void wait_until(const run_state& state, const char* what, std::chrono::microseconds pause,
                Done done) {
  using clock = std::chrono::steady_clock;
  auto seen = state.delivered.load();
  for (auto since = clock::now(); !done(); std::this_thread::sleep_for(pause)) {
    if (auto now = state.delivered.load(); now != seen) {
      seen = now;
      since = clock::now();
    }
    if (clock::now() - since > patience)
      throw std::runtime_error(std::string{"waited in vain for "} + what +
                               "; arrived so far: about " + std::to_string(seen));
  }
}

} // namespace

int run_state::wait_for_port(unsigned stage) const {
  wait_until(*this, "the port of another part", glance, [&] { return ports[stage] != 0; });
  return ports[stage];
}

void run_state::wait_for_delivered(std::uint64_t least) const {
  wait_until(*this, "a message", std::chrono::microseconds{20},
             [&] { return delivered.load(std::memory_order_relaxed) >= least; });
}

void run_state::wait_for_end() const {
  wait_until(*this, "the end mark", glance, [&] { return ended.load(); });
}

} // namespace bench
