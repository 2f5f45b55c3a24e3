// SPDX-License-Identifier: BSD-3-Clause
#include <pubsub/status_subscriber.hpp>

#include "node/peering/status_queue.hpp"

namespace pubsub {

std::string_view to_string(status_code code) noexcept {
  switch (code) {
  case status_code::unspecified:
    return "unspecified";
  case status_code::peer_added:
    return "peer_added";
  case status_code::peer_removed:
    return "peer_removed";
  case status_code::peer_lost:
    return "peer_lost";
  case status_code::endpoint_discovered:
    return "endpoint_discovered";
  case status_code::endpoint_unreachable:
    return "endpoint_unreachable";
  }
  return "unspecified";
}

std::string to_string(const status& x) {
  std::string result{x.is_error() ? to_string(x.failure()) : to_string(x.code())};
  std::string where;
  if (!x.peer().is_nil())
    where = to_string(x.peer());
  if (const auto& network = x.network())
    where += (where.empty() ? "" : ", ") + to_string(*network);
  if (!where.empty())
    result += "(" + where + ")";
  return x.message().empty() ? result : result + ": " + x.message();
}

// -- the public handle -------------------------------------------------------------------------

status_subscriber::status_subscriber(std::shared_ptr<status_queue> queue)
    : queue_(std::move(queue)) {}
status_subscriber::status_subscriber(status_subscriber&&) noexcept = default;
status_subscriber& status_subscriber::operator=(status_subscriber&&) noexcept = default;
status_subscriber::~status_subscriber() = default;

received<status> status_subscriber::get() {
  return queue_->pull({});
}
received<status> status_subscriber::get_for(std::chrono::nanoseconds timeout) {
  return queue_->pull(deadline_after(timeout));
}
received<status> status_subscriber::try_get() {
  return queue_->pull(immediately());
}
int status_subscriber::fd() const {
  return queue_->fd();
}
std::size_t status_subscriber::available() const {
  return queue_->size();
}
std::uint64_t status_subscriber::dropped() const {
  return queue_->dropped();
}

} // namespace pubsub
