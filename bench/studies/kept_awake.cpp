// SPDX-License-Identifier: BSD-3-Clause
#include "studies/kept_awake.hpp"

#include <cstdint>

#include <fcntl.h>
#include <unistd.h>

namespace pubsub::tool::bench {

kept_awake::kept_awake(bool wanted) noexcept {
  if (!wanted)
    return;
  request_ = ::open("/dev/cpu_dma_latency", O_WRONLY | O_CLOEXEC);
  const std::int32_t us = 0; // that waking may take
  if (in_effect() && ::write(request_, &us, sizeof us) != sizeof us) {
    ::close(request_);
    request_ = -1;
  }
}

kept_awake::~kept_awake() {
  if (in_effect())
    ::close(request_);
}

const char* kept_awake::text() const noexcept {
  return in_effect() ? "idle processors are kept awake"
                     : "idle processors may fall asleep: figures hold what waking them takes";
}

} // namespace pubsub::tool::bench
