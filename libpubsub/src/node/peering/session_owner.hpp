// What a session needs of the node it belongs to.
#pragma once

#include <memory>
#include <string>

#include <pubsub/endpoint_options.hpp>

#include "node/flow/live_counters.hpp"
#include "node/routing/router.hpp"
#include "wire/broker/handshake.hpp"

namespace pubsub {

class session;

/// Decides which connection becomes the link of a peer, and learns how each one ends: `peering`,
/// which is above its sessions. Calls come on the session's loop and must not block. Thread-safe.
class session_owner {
public:
  virtual ~session_owner() = default;

  virtual const endpoint_id& self() const noexcept = 0;
  virtual const endpoint_options& options() const noexcept = 0;
  virtual router& routes() noexcept = 0;
  virtual std::shared_ptr<live_counters> make_counters() = 0;
  /// How this endpoint is, as JSON; empty where it does not answer such questions.
  virtual std::string status_reply() const = 0;

  /// What becomes of a handshake with this peer.
  virtual wire::admission admit(session& who, const endpoint_id& remote, bool originator) = 0;
  /// Whether there is a peering, or a handshake, with this peer.
  virtual bool is_known(const endpoint_id& remote) const = 0;
  /// The handshake has succeeded, and both sides have announced what they know.
  virtual void on_peered(const std::shared_ptr<session>& who) = 0;
  /// The last call for this session; `how` its handshake had ended.
  virtual void on_closed(const std::shared_ptr<session>& who, wire::handshake::outcome how,
                         error reason) = 0;
};

} // namespace pubsub
