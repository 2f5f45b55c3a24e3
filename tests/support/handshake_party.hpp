// One side of a handshake without a socket: what it says is recorded.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "support/hex.hpp"
#include "wire/broker/handshake.hpp"

namespace pubsub::test {

using wire::admission;
using wire::tcp_role;
using outcome = wire::handshake::outcome;

struct party {
  party(tcp_role role, const endpoint_id& self, const filter& announced = {"/own"},
        std::uint8_t max_version = 1, bool client = false, const std::string& name = {})
      : machine(role, {.self = self,
                       .max_version = max_version,
                       .client = client,
                       .name = name,
                       .local_filter = [announced](const endpoint_id&) { return announced; },
                       .admit =
                           [this](const endpoint_id& remote, bool originator) {
                             asked.push_back(remote);
                             asked_as_originator = originator;
                             return answer;
                           },
                       .is_known = [this](const endpoint_id&) { return known; },
                       .send =
                           [this](std::span<const std::byte> frame) {
                             sent.emplace_back(frame.begin(), frame.end());
                           }}) {
    machine.start();
  }
  party(const party&) = delete;
  party& operator=(const party&) = delete;

  /// Gives the machine a whole frame, length prefix included.
  outcome hear(const buffer& frame) { return machine.receive(std::span{frame}.subspan(4)); }
  outcome hear(std::string_view hex) { return hear(from_hex(hex)); }
  /// What has been sent since the last call.
  std::vector<buffer> take_sent() { return std::exchange(sent, {}); }

  admission answer = admission::proceed;
  bool known = false;
  bool asked_as_originator = false;
  std::vector<endpoint_id> asked;
  std::vector<buffer> sent;
  wire::handshake machine;
};

} // namespace pubsub::test
