// Reports about peers, to status subscribers and the log.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include <pubsub/error.hpp>
#include <pubsub/status.hpp>

#include "base/log.hpp"
#include "node/peering/session.hpp"
#include "node/peering/status_queue.hpp"
#include "node/peering/tuning.hpp"

namespace pubsub {

/// Thread-safe.
class peer_reports {
public:
  explicit peer_reports(status_hub& events) : events_(events) {}

  void added(const session& who) {
    const auto& id = who.remote();
    events_.publish(
        {status_code::endpoint_discovered, id, {}, "found a new peer in the network", who.name()});
    events_.publish({status_code::peer_added, id, who.where(), "handshake successful", who.name()});
  }
  /// A peering has ended: because this side left, or for another reason.
  void removed(const session& who, const error& reason) {
    const auto suffix = is_worth_a_line(reason) ? " (" + reason.context() + ")" : std::string{};
    events_.publish({status_code::peer_removed, who.remote(), who.where(),
                     "removed connection to remote peer" + suffix, who.name()});
    unreachable(who);
  }
  void lost(const session& who, const error& reason) {
    const auto& id = who.remote();
    const auto where = who.where();
    events_.publish({status_code::peer_lost, id, where, "lost connection to remote peer",
                     who.name(), who.peer_has_left()});
    if (is_worth_a_line(reason))
      events_.publish({reason.code(), id, where, reason.context(), who.name()});
    unreachable(who);
  }
  /// The line for the log about a peering that was lost. No lock may be held: the hook of the log
  /// belongs to the program, and may ask the endpoint about its peers.
  void log_loss(const session& who, const error& reason) {
    const auto where = who.where();
    if (is_worth_a_line(reason))
      log(log_level::warning, "the link to " + (who.name().empty() ? "" : who.name() + " at ") +
                                  to_string(where) + " was closed: " + reason.message());
  }
  /// An accepted connection did not become a peering. That is usual on the internet; but if it is
  /// for TLS, the peer's version, or an id that is another's, the operator has to do something.
  /// Strangers cannot flood the log.
  void turned_away(const session& who, const error& reason) {
    const auto where = who.where();
    const bool tell = reason == errc::tls_failed || reason == errc::denied;
    const bool warn = (tell || reason == errc::peer_incompatible) && may_warn();
    log(warn ? log_level::warning : log_level::info,
        "a connection from " + where.address + " did not become a peering: " + reason.message());
    if (tell)
      events_.publish({reason.code(), who.remote(), where, reason.context()});
  }
  /// A peer has refused something that this side has sent.
  void refused(const session& who, std::string_view what) {
    const auto where = who.where();
    log(may_warn() ? log_level::warning : log_level::info,
        "the peer at " + to_string(where) + " refuses something: " + std::string{what});
    events_.publish({errc::denied, who.remote(), where, std::string{what}});
  }
  void failed(const endpoint_id& id, const network_info& where, const error& reason) {
    events_.publish({reason.code(), id, where, reason.context()});
  }
  /// There is no such peer to part from. Returns the error, which says `name`.
  error unknown(const endpoint_id& id, const std::optional<network_info>& where,
                const std::string& name) {
    events_.publish({errc::peer_invalid, id, where, "cannot unpeer from unknown peer"});
    return {errc::peer_invalid, name + " is not a peer"};
  }

private:
  void unreachable(const session& who) {
    events_.publish(
        {status_code::endpoint_unreachable, who.remote(), {}, "lost the last path", who.name()});
  }
  /// More than a closed socket.
  static bool is_worth_a_line(const error& reason) noexcept {
    return reason && reason.code() != errc::peer_unavailable;
  }
  bool may_warn() {
    const auto now = std::chrono::steady_clock::now();
    std::lock_guard lock{mutex_};
    if (now < next_warning_)
      return false;
    next_warning_ = now + peering_tuning::time_between_warnings;
    return true;
  }

  status_hub& events_;
  std::mutex mutex_;                                     // guards the following
  std::chrono::steady_clock::time_point next_warning_{}; // not before
};

} // namespace pubsub
