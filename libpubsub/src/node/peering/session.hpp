// One connection from its first byte to its last: handshake, then messages, then goodbye.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <pubsub/endpoint_options.hpp>
#include <pubsub/peer_info.hpp>

#include "link/peer_link.hpp"
#include "node/flow/message_reader.hpp"
#include "node/peering/inquiries.hpp"
#include "node/peering/liveness.hpp"
#include "node/peering/parting.hpp"
#include "wire/broker/handshake.hpp"

namespace pubsub {

class session;
struct peer_request;

/// Decides which connection becomes the link of a peer, and learns how each one ends: `peering`,
/// which is above its sessions. Calls come on the session's loop and must not block. Thread-safe.
class session_owner {
public:
  virtual ~session_owner() = default;

  virtual const endpoint_id& self() const noexcept = 0;
  virtual const endpoint_options& options() const noexcept = 0;
  virtual router& routes() noexcept = 0;
  /// Whether this endpoint is a client of the relays it is linked with.
  virtual bool is_client() const noexcept = 0;
  /// If its role is automatic, and that of a client, this endpoint becomes a relay. What peered
  /// with it as a client peers with it again, but not the session that this is because of.
  virtual void become_relay(const session* because_of = nullptr) = 0;
  virtual std::shared_ptr<live_counters> make_counters() = 0;
  /// The peer asks: `done` gets the reply, once, from any thread.
  virtual void take_inquiry(const wire::inquiry& what, const std::shared_ptr<session>& from,
                            inquiries::settle done) = 0;

  /// What becomes of a handshake with this peer.
  virtual wire::admission admit(session& who, const endpoint_id& remote, bool originator) = 0;
  /// Whether there is a peering, or a handshake, with this peer.
  virtual bool is_known(const endpoint_id& remote) const = 0;
  /// The peer says what it has refused.
  virtual void on_refusal(const session& who, std::string_view what) = 0;
  /// The handshake has succeeded, and both sides have announced what they know.
  virtual void on_peered(const std::shared_ptr<session>& who) = 0;
  /// The last call for this session; `how` its handshake had ended.
  virtual void on_closed(const std::shared_ptr<session>& who, wire::handshake::outcome how,
                         error reason) = 0;
};

/// Lives on its link's loop; `leave`, `reject` and `go_on` may be called from any thread.
class session final : public link_handler, public std::enable_shared_from_this<session> {
public:
  session(std::shared_ptr<session_owner> owner, std::shared_ptr<peer_link> carrier,
          wire::tcp_role role, std::shared_ptr<peer_request> request);

  /// On the link's loop.
  void start();
  std::size_t on_frames(const intrusive_ptr<chunk>& owner, std::span<std::byte> frames) override;
  void on_closed(const error& reason) override;

  /// What the peer calls itself.
  const std::string& name() const noexcept { return handshake_.remote_name(); }
  /// Whether the peer passes nothing on, and only its relays know it.
  bool is_of_client() const noexcept { return handshake_.remote_is_client(); }
  /// Whether the peer has said goodbye. On the link's loop.
  bool peer_has_left() const noexcept { return parting_ && parting_->left(); }

  /// The other handshake with this peer has failed: this one may go on.
  void go_on();
  /// The other handshake with this peer has succeeded: this connection is superfluous.
  void reject();
  /// Says goodbye behind everything queued, once what has gone to the nodes behind the peer has
  /// arrived there; closes on the answer, or after `timeout` without one.
  void leave(std::chrono::nanoseconds timeout, std::vector<endpoint_id> behind);

  // From any thread, once peered:

  /// Asks the peer to answer when it has read everything sent to it before this.
  inquiries::ticket ask_whether_read();
  /// The same; `done` is called once it has answered, or is gone, on any thread, perhaps at once.
  /// Returns the number, for `give_up`.
  std::uint32_t ask_whether_read(std::function<void()> done);
  /// Sends the inquiry, with a number of its own; `done` gets the reply, once, from any thread.
  /// Returns the number, for `give_up`.
  std::uint32_t ask(wire::inquiry what, inquiries::settle done);
  /// The answer comes too late.
  void give_up(std::uint32_t number) {
    asked_.answer(number, {.outcome = wire::reply_outcome::too_late});
  }
  /// The peer as `endpoint::peers` reports it.
  peer_info describe() const;
  const std::shared_ptr<peer_link>& carrier() const noexcept { return link_; }
  const std::shared_ptr<peer_request>& request() const noexcept { return request_; }
  /// Nil until the handshake knows it; constant once peered.
  const endpoint_id& remote() const noexcept { return handshake_.remote(); }
  /// Of the peer, as people call it.
  network_info where() const;
  /// True if the goodbye was not answered in time; known once closed.
  bool cut_off() const noexcept { return cut_off_; }

private:
  wire::handshake::environment make_environment();
  message_reader::environment make_reader_environment();
  void arm_timer(std::chrono::nanoseconds timeout, error reason);
  void act_on(wire::handshake::outcome outcome);
  void begin_messages();
  void become_peered();
  void on_ping(std::span<const std::byte> payload);
  void on_pong(std::span<const std::byte> payload);
  bool on_inquiry(std::span<const std::byte> payload);
  void reply(wire::reply what, std::size_t due_bytes);
  void call_back(std::chrono::nanoseconds delay);
  void go_on_waiting();
  void watch_over_peer();
  void look_at_peer();

  const std::shared_ptr<session_owner> owner_;
  const std::shared_ptr<peer_link> link_;
  const std::shared_ptr<peer_request> request_; // null for accepted connections
  const bool as_client_;
  wire::handshake handshake_;
  filter announced_;                       // to a Broker peer, in the handshake
  std::unique_ptr<message_reader> reader_; // set once the handshake is over, as what follows
  std::optional<parting> parting_;
  std::shared_ptr<live_counters> counts_;
  bool peered_ = false; // and both sides have announced what they know
  const std::unique_ptr<loop_timer> timer_;
  inquiries asked_;
  std::atomic<std::int64_t> round_trip_us_{-1}; // -1: not known
  std::size_t due_bytes_ = 0;                   // of answers that the peer waits for, at most
  liveness life_;
  const std::unique_ptr<loop_timer> look_;  // at the peer, from time to time
  const std::unique_ptr<loop_timer> again_; // for what waits, at `again_at_`
  peer_link::clock::time_point again_at_ = peer_link::clock::time_point::max();
  std::size_t refusals_ = 0; // that the peer has told
  bool cut_off_ = false;
  bool closed_ = false;
};

} // namespace pubsub
