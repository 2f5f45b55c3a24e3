// One client of the WebSocket server, apart from its socket.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <pubsub/cluster/websocket_server.hpp>
#include <pubsub/data_message.hpp>

#include "access/access.hpp"
#include "base/peer_identity.hpp"
#include "cluster/shared_counters.hpp"
#include "cluster/websocket/beast.hpp"
#include "cluster/websocket/client_node.hpp"
#include "cluster/websocket/upgrade.hpp"
#include "cluster/websocket_messages.hpp"

namespace pubsub::cluster {

class client;

/// Why a connection gets no further.
struct http_refusal {
  unsigned status = 0;
  std::string sentence;
  bool asks_for_token = false;
};

/// What clients have in common; outlives them. Thread-safe.
class client_host {
public:
  virtual ~client_host() = default;

  virtual const websocket_server_options& options() const noexcept = 0;
  virtual shared_counters<websocket_server_counters>& counts() noexcept = 0;

  /// The rule for a client, null where there are none; or why it is refused. A client that is
  /// admitted takes a place until it is forgotten.
  virtual std::optional<http_refusal> admit(const client& who, const peer_identity& identity,
                                            access_ptr& rule) = 0;
  /// Whether a client with this rule may stay.
  virtual bool still_holds(const peer_identity& identity, const access_ptr& rule) = 0;
  /// What the client is told that it is here.
  virtual websocket_ack ack() = 0;
  /// Makes a node, or destroys it, on another thread. `done` comes back on the loop of the client.
  virtual void make_node(std::shared_ptr<client> who, client_node_options how) = 0;
  virtual void destroy_node(std::unique_ptr<client_node> node) = 0;
  /// It is closed. The last call.
  virtual void forget(const client& who) = 0;
};

/// From its upgrade on: subscriptions first, then events both ways. Thread-safety: the thread of
/// its loop.
class client : public std::enable_shared_from_this<client> {
public:
  client(client_host& host, asio::io_context& loop);
  virtual ~client();

  /// Begins with the handshake.
  virtual void start() = 0;
  /// On its loop: closes with this code, or at once where the handshake has not ended.
  void close(websocket::close_code code, std::string_view reason);
  /// On its loop: rules have changed.
  void look_at_rules();
  /// On its loop: its node is made, or was not.
  void take_node(expected<std::unique_ptr<client_node>> made);
  asio::io_context& loop() noexcept { return loop_; }

protected:
  // -- the connection, which is below
  // --------------------------------------------------------------

  /// Reads the next message; `on_text` follows.
  virtual void receive() = 0;
  virtual void send(std::string_view text) = 0;
  virtual void send_ping() = 0;
  /// Sends the close; the connection ends once it is answered.
  virtual void send_close(websocket::close_reason why) = 0;
  /// Ends the connection at once. `on_end` follows where something was under way.
  virtual void cut() = 0;
  virtual std::size_t unsent_bytes() const = 0;
  virtual std::uint64_t written_bytes() const = 0;
  virtual bool has_room() const = 0;
  /// Calls `resume` once there may be room again.
  virtual void after_progress() = 0;

  // -- what it tells
  // -------------------------------------------------------------------------------

  /// A connection is cut that has not upgraded in time.
  void limit_handshake();
  /// It may upgrade, or why not.
  std::optional<http_refusal> on_request(const upgrade_request& request, peer_identity identity,
                                         const std::string& address);
  const std::string& protocol() const noexcept { return upgrade_.protocol; }
  void on_upgraded();
  void on_text(std::string_view text);
  void on_pong() noexcept { heard_ = true; }
  /// The last frame is on its way: for what is to come there is a time.
  void begin_goodbye();
  /// Something was written.
  void resume();
  /// It has ended; once.
  void on_end();
  /// Whether it has ended, or is about to.
  bool is_closing() const noexcept { return state_ >= phase::closing; }
  bool is_upgraded() const noexcept { return state_ > phase::handshake; }

  client_host& host_;

private:
  enum class phase : std::uint8_t { handshake, subscribing, opening, exchanging, closing, ended };
  using clock = std::chrono::steady_clock;

  void tell(std::string_view code, std::string_view context);
  void subscribe(std::string_view text);
  void publish();
  void receive_next();
  void wait_for_room();
  void keep_alive();
  void watch_news();
  void read_news();
  void take_news(const status& what);
  void wait_ready();
  void stop_waiting();
  void acknowledge();
  void watch_events();
  void send_events();
  void end_node();

  asio::io_context& loop_;
  phase state_ = phase::handshake;
  peer_identity identity_;
  access_ptr rule_;
  upgrade upgrade_;
  std::string name_;
  std::string shown_; // its address

  std::unique_ptr<client_node> node_;
  asio::posix::stream_descriptor news_fd_; // those of the node, not owned
  asio::posix::stream_descriptor events_fd_;
  std::optional<readiness> ready_;
  asio::posix::stream_descriptor ready_fd_; // its own

  asio::steady_timer ping_timer_;
  asio::steady_timer
      timer_;         // of the phase: for the handshake, the node, a queue with room, the end
  bool heard_ = true; // since the last ping
  bool stopped_reading_ = false;
  bool was_behind_ = false; // the last ping waits behind other messages
  std::uint64_t written_then_ = 0;
  bool waits_for_room_ = false;
  bool waits_to_read_ = false; // until then
  bool is_refused_ = false;

  websocket_event event_; // of the client, to be published
  std::vector<data_message> batch_;
  std::size_t next_in_batch_ = 0;
  std::string text_;
};

} // namespace pubsub::cluster
