// SPDX-License-Identifier: BSD-3-Clause
#include <pubsub/cluster/zeromq_member.hpp>

#include "cluster/member_counts.hpp"
#include "cluster/membership.hpp"
#include "cluster/zeromq_session.hpp"

#include <cerrno>
#include <optional>
#include <utility>

namespace pubsub::cluster {

namespace {

std::string addresses_of(const zeromq_options& options) {
  auto result = options.publish_to + ", " + options.subscribe_at;
  if (options.logs_at)
    result += ", " + *options.logs_at;
  return result;
}

} // namespace

/// What a member is made of.
class zeromq_membership {
public:
  zeromq_membership(std::shared_ptr<endpoint> ep, gateway_host host, zeromq_options from,
                    private_folder folder)
      : options(std::move(from)), member(std::move(ep), std::move(host), std::move(folder),
                                         {.retry = std::nullopt,
                                          .timeout = options.timeout,
                                          .max_retry = options.timeout,
                                          .link_queue = options.outgoing},
                                         [this](session_host& to) { return open(to); }) {}

  expected<std::unique_ptr<session>> open(session_host& host) {
    try {
      return std::unique_ptr<session>{std::make_unique<zeromq_session>(options, host, counts)};
    } catch (const zmq::error_t& refused) {
      return error_of_address(refused, addresses_of(options));
    }
  }

  const zeromq_options options;
  zeromq_counts counts;
  membership member;
};

zeromq_member::zeromq_member(std::unique_ptr<zeromq_membership> made) : state_(std::move(made)) {}
zeromq_member::zeromq_member(zeromq_member&&) noexcept = default;
zeromq_member& zeromq_member::operator=(zeromq_member&&) noexcept = default;
zeromq_member::~zeromq_member() = default;

expected<zeromq_member> zeromq_member::join(const endpoint& ep, zeromq_options options,
                                            gateway_host host) {
  if (auto checked = check(options); !checked)
    return checked.error();
  auto folder = private_folder::make();
  if (!folder)
    return folder.error();
  auto made = std::make_unique<zeromq_membership>(ep.share(), std::move(host), std::move(options),
                                                  std::move(*folder));
  if (auto started = made->member.start(); !started)
    return started.error();
  return zeromq_member{std::move(made)};
}

const std::string& zeromq_member::address() const noexcept {
  return state_->member.address();
}

bool zeromq_member::wait_connected(std::chrono::nanoseconds timeout) const {
  return state_->member.wait_connected(timeout);
}

std::string zeromq_member::problem() const {
  return state_->member.problem();
}

zeromq_counters zeromq_member::counters() const {
  return state_->counts.read();
}

} // namespace pubsub::cluster
