// Reports about peers, to status subscribers and the log.
#pragma once

#include <chrono>
#include <mutex>
#include <optional>
#include <string>

#include <pubsub/error.hpp>
#include <pubsub/status.hpp>

#include "node/peering/session.hpp"
#include "node/peering/status_queue.hpp"

namespace pubsub {

/// Thread-safe.
class peer_reports {
public:
  explicit peer_reports(status_hub& events) : events_(events) {}

  void added(const session& who);
  /// A peering has ended: because this side left, or for another reason.
  void removed(const session& who, const error& reason);
  void lost(const session& who, const error& reason);
  /// An accepted connection did not become a peering. That is usual on the internet; but if it is
  /// for TLS or for the peer's version the operator has to do something about it. Strangers cannot
  /// flood the log.
  void turned_away(const session& who, const error& reason);
  /// An attempt to connect to this address has failed.
  void failed(const endpoint_id& id, const network_info& where, const error& reason);
  /// There is no such peer to part from. Returns the error, which says `name`.
  error unknown(const endpoint_id& id, const std::optional<network_info>& where,
                const std::string& name);

private:
  bool may_warn();

  status_hub& events_;
  std::mutex mutex_;                                     // guards the following
  std::chrono::steady_clock::time_point next_warning_{}; // not before
};

} // namespace pubsub
