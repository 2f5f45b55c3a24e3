#include "support/run_state.hpp"

#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>

namespace bench {

namespace {

constexpr std::chrono::milliseconds glance{1};
constexpr std::chrono::seconds patience{10};

} // namespace

int run_state::wait_for_port(unsigned stage) const {
  while (ports[stage] == 0)
    std::this_thread::sleep_for(glance);
  return ports[stage];
}

void run_state::wait_for_end() const {
  using clock = std::chrono::steady_clock;
  auto seen = delivered.load();
  for (auto since = clock::now(); !ended; std::this_thread::sleep_for(glance)) {
    if (auto now = delivered.load(); now != seen) {
      seen = now;
      since = clock::now();
    }
    if (clock::now() - since > patience)
      throw std::runtime_error("the stream stopped before its end: published " +
                               std::to_string(published) + ", arrived about " +
                               std::to_string(seen));
  }
}

} // namespace bench
