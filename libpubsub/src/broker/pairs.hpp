// Which endpoints have a bridge between them.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <memory>

#include <pubsub/error.hpp>
#include <pubsub/value/endpoint_id.hpp>

#include "broker/broker_side.hpp"

namespace pubsub::broker {

/// An endpoint of Broker, by its address as long as the bridge is in it, and one of ours.
struct endpoint_pair {
  const ::broker::endpoint* theirs;
  endpoint_id ours;
  friend bool operator==(const endpoint_pair&, const endpoint_pair&) = default;
};

/// Calls `start` if the two have no bridge; they have one while the side that it returns is not
/// gone. Thread-safe. Errors: invalid_argument (they have), and those of `start`.
expected<std::shared_ptr<broker_side>>
join_pair(const endpoint_pair& pair,
          const std::function<expected<std::shared_ptr<broker_side>>()>& start);

} // namespace pubsub::broker
