// SPDX-License-Identifier: BSD-3-Clause
#include <pubsub/cluster/websocket_member.hpp>

#include "cluster/client/websocket_counts.hpp"
#include "cluster/client/websocket_session.hpp"
#include "cluster/membership.hpp"

#include <optional>
#include <utility>

namespace pubsub::cluster {

/// What a member is made of.
class websocket_membership {
public:
  websocket_membership(std::shared_ptr<endpoint> ep, gateway_host host, websocket_options from,
                       private_folder folder)
      : options(std::move(from)), member(std::move(ep), std::move(host), std::move(folder),
                                         {.retry = std::nullopt,
                                          .timeout = options.timeout,
                                          .max_retry = options.timeout,
                                          .link_queue = options.outgoing},
                                         [this](session_host& to) { return open(to); }) {}

  expected<std::unique_ptr<session>> open(session_host& host) {
    try {
      return std::unique_ptr<session>{std::make_unique<websocket_session>(options, host, counts)};
    } catch (const boost::system::system_error& unusable) {
      return error{errc::invalid_argument, options.url + ": " + unusable.what()};
    }
  }

  const websocket_options options;
  websocket_counts counts;
  membership member;
};

websocket_member::websocket_member(std::unique_ptr<websocket_membership> made)
    : state_(std::move(made)) {}
websocket_member::websocket_member(websocket_member&&) noexcept = default;
websocket_member& websocket_member::operator=(websocket_member&&) noexcept = default;
websocket_member::~websocket_member() = default;

expected<websocket_member> websocket_member::join(const endpoint& ep, websocket_options options,
                                                  gateway_host host) {
  if (auto checked = check(options); !checked)
    return checked.error();
  auto folder = private_folder::make();
  if (!folder)
    return folder.error();
  auto made = std::make_unique<websocket_membership>(ep.share(), std::move(host),
                                                     std::move(options), std::move(*folder));
  if (auto started = made->member.start(); !started)
    return started.error();
  return websocket_member{std::move(made)};
}

const std::string& websocket_member::address() const noexcept {
  return state_->member.address();
}

bool websocket_member::wait_connected(std::chrono::nanoseconds timeout) const {
  return state_->member.wait_connected(timeout);
}

std::string websocket_member::problem() const {
  return state_->member.problem();
}

websocket_counters websocket_member::counters() const {
  return state_->counts.read();
}

} // namespace pubsub::cluster
