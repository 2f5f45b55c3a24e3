// SPDX-License-Identifier: BSD-3-Clause
#include <pubsub/cluster/zeromq_member.hpp>

#include "cluster/member_state.hpp"
#include "cluster/zeromq_session.hpp"

#include <utility>

namespace pubsub::cluster {

namespace {

std::string addresses_of(const zeromq_options& options) {
  auto result = options.publish_to + ", " + options.subscribe_at;
  if (options.logs_at)
    result += ", " + *options.logs_at;
  return result;
}

expected<std::unique_ptr<session>> open_session(const zeromq_options& options, session_host& host,
                                                shared_counters<zeromq_counters>& counts) {
  try {
    return std::unique_ptr<session>{std::make_unique<zeromq_session>(options, host, counts)};
  } catch (const zmq::error_t& refused) {
    return error_of_address(refused, addresses_of(options));
  }
}

} // namespace

class zeromq_membership : public member_state<zeromq_options, zeromq_counters> {
public:
  using member_state::member_state;
};

zeromq_member::zeromq_member(std::unique_ptr<zeromq_membership> made) : state_(std::move(made)) {}
zeromq_member::zeromq_member(zeromq_member&&) noexcept = default;
zeromq_member& zeromq_member::operator=(zeromq_member&&) noexcept = default;
zeromq_member::~zeromq_member() = default;

expected<zeromq_member> zeromq_member::join(const endpoint& ep, zeromq_options options,
                                            gateway_host host) {
  auto begun =
      begin_membership<zeromq_membership>(ep, std::move(host), std::move(options), open_session);
  if (!begun)
    return begun.error();
  return zeromq_member{std::move(*begun)};
}

const std::string& zeromq_member::address() const noexcept {
  return state_->membership().address();
}

bool zeromq_member::wait_connected(std::chrono::nanoseconds timeout) const {
  return state_->membership().wait_connected(timeout);
}

std::string zeromq_member::problem() const {
  return state_->membership().problem();
}

zeromq_counters zeromq_member::counters() const {
  return state_->counters();
}

void zeromq_member::leave() {
  state_->membership().leave();
}

} // namespace pubsub::cluster
