// Community ID, version 1: the same text for a flow in whichever tool it shows.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>

#include <pubsub/value/address.hpp>
#include <pubsub/value/port.hpp>

namespace pubsub::bridge {

/// Both ends of a flow as Zeek tells them: of ICMP the ports are type and code of the message that
/// began it.
struct flow_ends {
  address from;
  std::uint16_t from_port = 0;
  address to;
  std::uint16_t to_port = 0;
  transport protocol = transport::unknown;
};

/// `1:LQU9qZlK+B5F3KDmev6m5PMibrg=`, with the seed 0 (github.com/corelight/community-id-spec).
std::string community_id_of(const flow_ends& x);

} // namespace pubsub::bridge
