#include "support/run_state.hpp"

#include <chrono>
#include <thread>

namespace bench {

namespace {

constexpr std::chrono::milliseconds glance{1};

} // namespace

int run_state::wait_for_port(unsigned stage) const {
  while (ports[stage] == 0)
    std::this_thread::sleep_for(glance);
  return ports[stage];
}

void run_state::wait_for_end() const {
  while (!ended)
    std::this_thread::sleep_for(glance);
}

} // namespace bench
