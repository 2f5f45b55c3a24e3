// An address this endpoint tries to be connected to.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include <pubsub/endpoint_options.hpp>
#include <pubsub/status.hpp>

#include "node/peering/back_off.hpp"
#include "node/peering/tuning.hpp"
#include "transport/connector.hpp"

namespace pubsub {

/// An address, however it is to be reached.
inline network_info where_is(const uri& x) {
  const bool whole = !x.path.empty() || !x.shown.empty();
  return whole ? network_info{to_string(x), 0} : network_info{x.host, x.port};
}

/// One call of `endpoint::peer`. Guarded by the peering's mutex.
struct peer_request {
  uri target;
  peer_options options;
  std::shared_ptr<connector> connects{};
  endpoint_id remote{};   ///< nil until the first success
  std::string name{};     ///< what the peer called itself then
  bool connected = false; ///< its peering is established
  bool succeeded = false; ///< a connection that it made was peered at least once
  bool stopped = false;
  bool attempted = false;    ///< at least one attempt has failed
  bool changes_role = false; ///< this endpoint peers again, as a relay
  back_off delays;           ///< between failed attempts
  std::chrono::steady_clock::time_point connected_at{};
  unsigned short_peerings = 0; ///< in a row
  error last_failure{};

  network_info where() const { return where_is(target); }

  void stop() {
    stopped = true;
    connects->stop();
  }
  void note_success(const endpoint_id& id, const std::string& who) {
    remote = id;
    name = who;
    connected = true;
    changes_role = false;
    connected_at = std::chrono::steady_clock::now();
  }
  void note_failure(const error& reason) {
    attempted = true;
    changes_role = false;
    last_failure = reason;
    if (options.retry)
      connects->attempt_after(delays.next());
  }
  /// Its peering has ended: it tries again at once; but where peering after peering ends as soon as
  /// it has begun, with delays, as after attempts that fail.
  void note_loss() {
    const auto lasted = std::chrono::steady_clock::now() - connected_at;
    short_peerings = lasted < peering_tuning::short_peering ? short_peerings + 1 : 0;
    if (short_peerings <= 1)
      delays.reset();
    const bool at_once = short_peerings < peering_tuning::suspicious_peerings;
    connects->attempt_after(at_once ? back_off::delay{0} : delays.next());
  }
};

} // namespace pubsub
