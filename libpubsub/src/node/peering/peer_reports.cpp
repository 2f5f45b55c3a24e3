#include "node/peering/peer_reports.hpp"

#include "base/log.hpp"
#include "node/peering/tuning.hpp"

namespace pubsub {

void peer_reports::added(const session& who) {
  const auto& id = who.remote();
  events_.publish({status_code::endpoint_discovered, id, {}, "found a new peer in the network"});
  events_.publish({status_code::peer_added, id, who.carrier()->remote(), "handshake successful"});
}

void peer_reports::removed(const session& who, const error& reason) {
  const auto suffix = reason ? " (" + reason.context() + ")" : std::string{};
  events_.publish({status_code::peer_removed, who.remote(), who.carrier()->remote(),
                   "removed connection to remote peer" + suffix});
  events_.publish({status_code::endpoint_unreachable, who.remote(), {}, "lost the last path"});
}

void peer_reports::lost(const session& who, const error& reason) {
  const auto& id = who.remote();
  const auto& where = who.carrier()->remote();
  events_.publish({status_code::peer_lost, id, where, "lost connection to remote peer"});
  if (reason && reason.code() != errc::peer_unavailable) { // more than a closed socket
    log(log_level::warning, "the link to " + where.address + ":" + std::to_string(where.port) +
                                " was closed: " + reason.message());
    events_.publish({reason.code(), id, where, reason.context()});
  }
  events_.publish({status_code::endpoint_unreachable, id, {}, "lost the last path"});
}

void peer_reports::turned_away(const session& who, const error& reason) {
  const auto& where = who.carrier()->remote();
  const bool tls = reason == errc::tls_failed;
  const bool warn = (tls || reason == errc::peer_incompatible) && may_warn();
  log(warn ? log_level::warning : log_level::info,
      "a connection from " + where.address + " did not become a peering: " + reason.message());
  if (tls)
    events_.publish({reason.code(), who.remote(), where, reason.context()});
}

bool peer_reports::may_warn() {
  const auto now = std::chrono::steady_clock::now();
  std::lock_guard lock{mutex_};
  if (now < next_warning_)
    return false;
  next_warning_ = now + peering_tuning::time_between_warnings;
  return true;
}

void peer_reports::failed(const endpoint_id& id, const network_info& where, const error& reason) {
  events_.publish({reason.code(), id, where, reason.context()});
}

error peer_reports::unknown(const endpoint_id& id, const std::optional<network_info>& where,
                            const std::string& name) {
  events_.publish({errc::peer_invalid, id, where, "cannot unpeer from unknown peer"});
  return {errc::peer_invalid, name + " is not a peer"};
}

} // namespace pubsub
