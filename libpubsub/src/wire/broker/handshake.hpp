// Broker's handshake as a state machine. Pure: frames in, frames and decisions
// out; no sockets, no clock, no knowledge of other connections.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include <pubsub/error.hpp>
#include <pubsub/filter.hpp>
#include <pubsub/value/endpoint_id.hpp>

#include "base/byte_reader.hpp"

namespace pubsub::wire {

/// Which side opened the TCP connection.
enum class tcp_role : std::uint8_t { connecting, accepting };

/// What the endpoint says once the remote id is known (section 5.2).
enum class admission : std::uint8_t {
  proceed,   ///< go on
  pause,     ///< another handshake with this peer is running: wait for `proceed_now` or `reject`
  redundant, ///< already peered: drop_conn 39
  illegal,   ///< drop_conn 40
  closing,   ///< drop_conn 28
  denied,    ///< the id is another's: refused with a reason
  unknown,   ///< no access rule is for the peer: refused with a reason
  limited,   ///< or too many peers have that rule
  full,      ///< there are too many peers: refused with a reason
};

/// One handshake. `receive` is called with every frame payload until it is `over`, or has failed
/// (or is `paused`, which ends by itself through `proceed_now` or `reject`). In version 2 the side
/// that answers is peered, and may say more, before the other one's last word has come: that one
/// has admitted it already.
class handshake {
public:
  enum class outcome : std::uint8_t {
    running,
    paused,    ///< this connection waits for another one's handshake
    peered,    ///< phase-3 frames may follow
    redundant, ///< this connection is superfluous, the peering exists: close it, report success
    failed,    ///< close the connection; `failure` says why
  };

  struct environment {
    endpoint_id self;
    /// The highest version to offer: 1 is Broker's, 2 adds batches.
    std::uint8_t max_version = 1;
    /// Whether this side is a client of nodes of version 2 (docs/wire-format.md).
    bool client = false;
    /// What this side calls itself, for nodes of version 2.
    std::string name{};
    /// The filter to announce to this peer of version 1, asked for at the moment it is sent.
    std::function<filter(const endpoint_id& remote)> local_filter;
    /// Asked once, when the remote id is known. `originator`: this side decides which of two
    /// connections stays.
    std::function<admission(const endpoint_id& remote, bool originator)> admit;
    /// On drop_conn 39: whether we too know this peer as connecting or peered.
    std::function<bool(const endpoint_id& remote)> is_known;
    /// Takes a whole frame, length prefix included.
    std::function<void(std::span<const std::byte> frame)> send;
  };

  handshake(tcp_role role, environment env);

  /// Sends what this side says first: hello or probe.
  void start();
  outcome receive(std::span<const std::byte> frame_payload);
  /// Ends a pause: the other handshake failed, this one goes on.
  outcome proceed_now();
  /// Ends a pause, or a handshake that cannot go on: sends drop_conn with this code.
  outcome reject(errc code, std::string_view description);

  outcome state() const noexcept { return outcome_; }
  /// Whether both sides have said everything; what comes from now on is no part of it.
  bool over() const noexcept { return expects_ == expects::nothing; }
  /// Nil until known.
  const endpoint_id& remote() const noexcept { return remote_; }
  const filter& remote_filter() const noexcept { return remote_filter_; }
  /// What both sides speak; known once the handshake is past its hellos.
  std::uint8_t version() const noexcept { return version_; }
  /// Whether the remote side is a client; known with the version, and means nothing in version 1.
  bool remote_is_client() const noexcept { return remote_is_client_; }
  /// What the remote side calls itself; empty if it does not, or speaks version 1.
  const std::string& remote_name() const noexcept { return remote_name_; }
  const error& failure() const noexcept { return failure_; }
  bool is_originator() const noexcept { return originator_; }

private:
  enum class expects : std::uint8_t {
    hello,
    hello_or_version_select,
    version_select,
    originator_syn,
    responder_syn_ack,
    originator_ack,
    nothing,
  };

  bool may_still_come(std::uint8_t tag) const noexcept;
  outcome on_probe(std::span<const std::byte> body);
  outcome on_hello(std::span<const std::byte> body);
  outcome on_version_select(std::span<const std::byte> body);
  outcome on_drop(std::span<const std::byte> body);
  outcome on_filter(std::span<const std::byte> body, std::uint8_t tag, expects state);
  void read_description(byte_reader& in);
  outcome ask_admission();
  outcome admitted();
  outcome fail(errc code, std::string context);
  outcome fail_and_tell(const error& why);
  outcome out_of_order(std::uint8_t tag);

  std::uint8_t role_mark() const noexcept;
  void send_hello();
  void send_version();
  void send_filter(std::uint8_t tag);

  const tcp_role role_;
  const environment env_;
  expects expects_;
  outcome outcome_ = outcome::running;
  endpoint_id remote_;
  filter remote_filter_;
  error failure_;
  std::uint8_t version_ = 1;
  bool originator_ = false;
  bool remote_is_client_ = false;
  std::string remote_name_;
};

/// What a side that expects TLS answers in the clear to one that does not use it: drop_conn
/// (peer_incompatible) in the name of the nil id, which no endpoint has. A handshake that receives
/// it fails with tls_failed.
std::vector<std::byte> make_tls_refusal();

} // namespace pubsub::wire
