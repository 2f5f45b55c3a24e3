// What the public members of clusters are made of.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <optional>
#include <utility>

#include <pubsub/endpoint.hpp>

#include "cluster/membership.hpp"
#include "cluster/shared_counters.hpp"

namespace pubsub::cluster {

/// Options that hold as long as the member does, what is counted, and the thread with its sessions.
/// `open_session` makes a session of options, host and counters.
template <class Options, class Counters>
class member_state {
public:
  using counts = shared_counters<Counters>;
  using opener = expected<std::unique_ptr<session>> (*)(const Options&, session_host&, counts&);

  member_state(std::shared_ptr<endpoint> ep, gateway_host host, Options from, private_folder folder,
               opener open_session)
      : options_(std::move(from)), membership_(std::move(ep), std::move(host), std::move(folder),
                                               {.retry = std::nullopt,
                                                .timeout = options_.timeout,
                                                .max_retry = options_.timeout,
                                                .link_queue = options_.outgoing},
                                               [this, open_session](session_host& to) {
                                                 return open_session(options_, to, counts_);
                                               }) {}

  Counters counters() const noexcept { return counts_.read(); }
  cluster::membership& membership() noexcept { return membership_; }

private:
  const Options options_;
  counts counts_;
  cluster::membership membership_;
};

/// `State` is a `member_state`. Errors: those of `check` and of the first session; cannot_listen
/// (the folder), limit_exceeded.
template <class State, class Options>
expected<std::unique_ptr<State>> begin_membership(const endpoint& ep, gateway_host host,
                                                  Options options,
                                                  typename State::opener open_session) {
  if (auto checked = check(options); !checked)
    return checked.error();
  auto folder = private_folder::make();
  if (!folder)
    return folder.error();
  auto result = std::make_unique<State>(ep.share(), std::move(host), std::move(options),
                                        std::move(*folder), open_session);
  if (auto started = result->membership().start(); !started)
    return started.error();
  return result;
}

} // namespace pubsub::cluster
