// SPDX-License-Identifier: BSD-3-Clause
#include <pubsub/readiness.hpp>

#include "endpoint/core.hpp"

namespace pubsub {

readiness::readiness(std::unique_ptr<readiness_core> core) : core_(std::move(core)) {}
readiness::readiness(readiness&&) noexcept = default;
readiness& readiness::operator=(readiness&&) noexcept = default;
readiness::~readiness() = default;

int readiness::fd() const {
  return core_->known().fd();
}
bool readiness::ready() const {
  return core_->known().ready();
}
bool readiness::closed() const {
  return core_->known().closed();
}
bool readiness::wait_for(std::chrono::nanoseconds timeout) {
  return core_->known().wait(deadline_after(timeout));
}

} // namespace pubsub
