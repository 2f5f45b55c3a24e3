// SPDX-License-Identifier: BSD-3-Clause
#include <pubsub/network_subscriber.hpp>

#include "endpoint/core.hpp"

namespace pubsub {

std::string_view to_string(network_change x) noexcept {
  switch (x) {
  case network_change::node_added:
    return "node_added";
  case network_change::node_lost:
    return "node_lost";
  case network_change::topic_added:
    return "topic_added";
  case network_change::topic_removed:
    return "topic_removed";
  }
  return "unknown";
}

network_subscriber::network_subscriber(std::unique_ptr<network_reader> reader)
    : reader_(std::move(reader)) {}
network_subscriber::network_subscriber(network_subscriber&&) noexcept = default;
network_subscriber& network_subscriber::operator=(network_subscriber&&) noexcept = default;
network_subscriber::~network_subscriber() = default;

received<network_event> network_subscriber::get() {
  return reader_->get({});
}
received<network_event> network_subscriber::get_for(std::chrono::nanoseconds timeout) {
  return reader_->get(deadline_after(timeout));
}
received<network_event> network_subscriber::try_get() {
  return reader_->get(immediately());
}
int network_subscriber::fd() const {
  return reader_->fd();
}
bool network_subscriber::available() const {
  return reader_->available();
}
void network_subscriber::close() {
  reader_->close();
}

} // namespace pubsub
