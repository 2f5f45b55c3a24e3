// SPDX-License-Identifier: BSD-3-Clause
#include "studies/emulator/processors.hpp"

namespace emulator {

namespace {

std::optional<::cpu_set_t> allowed() noexcept {
  ::cpu_set_t result;
  if (::sched_getaffinity(0, sizeof result, &result) != 0)
    return {};
  return result;
}

int last_of(const ::cpu_set_t& all) noexcept {
  int last = CPU_SETSIZE - 1;
  while (last > 0 && !CPU_ISSET(last, &all))
    --last;
  return last;
}

} // namespace

void stay_on_last_processor() noexcept {
  const auto all = allowed();
  if (!all)
    return;
  ::cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(last_of(*all), &one);
  ::sched_setaffinity(0, sizeof one, &one);
}

off_last_processor::off_last_processor() noexcept : before_(allowed()) {
  if (!before_)
    return;
  auto others = *before_;
  CPU_CLR(last_of(others), &others);
  if (CPU_COUNT(&others) == 0 || ::sched_setaffinity(0, sizeof others, &others) != 0)
    before_.reset();
}

off_last_processor::~off_last_processor() {
  if (before_)
    ::sched_setaffinity(0, sizeof *before_, &*before_);
}

} // namespace emulator
