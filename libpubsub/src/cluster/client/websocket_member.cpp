// SPDX-License-Identifier: BSD-3-Clause
#include <pubsub/cluster/websocket_member.hpp>

#include "cluster/client/websocket_session.hpp"
#include "cluster/member_state.hpp"

#include <utility>

namespace pubsub::cluster {

namespace {

expected<std::unique_ptr<session>> open_session(const websocket_options& options,
                                                session_host& host,
                                                shared_counters<websocket_counters>& counts) {
  try {
    return std::unique_ptr<session>{std::make_unique<websocket_session>(options, host, counts)};
  } catch (const boost::system::system_error& unusable) {
    return error{errc::invalid_argument, options.url + ": " + unusable.what()};
  }
}

} // namespace

class websocket_membership : public member_state<websocket_options, websocket_counters> {
public:
  using member_state::member_state;
};

websocket_member::websocket_member(std::unique_ptr<websocket_membership> made)
    : state_(std::move(made)) {}
websocket_member::websocket_member(websocket_member&&) noexcept = default;
websocket_member& websocket_member::operator=(websocket_member&&) noexcept = default;
websocket_member::~websocket_member() = default;

expected<websocket_member> websocket_member::join(const endpoint& ep, websocket_options options,
                                                  gateway_host host) {
  auto begun =
      begin_membership<websocket_membership>(ep, std::move(host), std::move(options), open_session);
  if (!begun)
    return begun.error();
  return websocket_member{std::move(*begun)};
}

const std::string& websocket_member::address() const noexcept {
  return state_->membership().address();
}

bool websocket_member::wait_connected(std::chrono::nanoseconds timeout) const {
  return state_->membership().wait_connected(timeout);
}

std::string websocket_member::problem() const {
  return state_->membership().problem();
}

websocket_counters websocket_member::counters() const {
  return state_->counters();
}

void websocket_member::leave() {
  state_->membership().leave();
}

} // namespace pubsub::cluster
