// One connection to a WebSocket server: from the name of its host to the last frame.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <pubsub/cluster/websocket_member.hpp>
#include <pubsub/cluster/websocket_options.hpp>

#include "cluster/client/beast.hpp"
#include "cluster/shared_counters.hpp"
#include "cluster/websocket_messages.hpp"
#include "cluster/websocket_url.hpp"

namespace pubsub::cluster {

/// What all connections to a server have in common; outlives them.
struct websocket_place {
  const websocket_options& options;
  const websocket_url url;
  asio::io_context& loop;
  asio::ssl::context* tls; ///< null where nothing is encrypted
  shared_counters<websocket_counters>& counts;
};

/// How a connection speaks with the session it belongs to. All are called from the loop, none by a
/// function of the connection.
struct connection_events {
  std::function<void(const websocket_ack&)> opened;
  std::function<void(std::string_view)> received; ///< a message, after `receive`
  std::function<void()> room;                     ///< what was to be sent is with the kernel
  /// In one sentence, why; the last event.
  std::function<void(std::string)> ended;
};

/// Thread-safety: none; all of it runs on the loop.
class websocket_connection {
public:
  /// Connects, and subscribes to `prefixes`.
  websocket_connection(const websocket_place& place, std::vector<std::string> prefixes,
                       connection_events events);
  /// Cuts the connection, and counts what was not sent. There are no events any more.
  ~websocket_connection();
  websocket_connection(const websocket_connection&) = delete;
  websocket_connection& operator=(const websocket_connection&) = delete;

  /// Begins to read; to be called once, after `opened`. What the server sends before waits there.
  void receive();
  /// To be sent by `flush`, as a frame of bytes: text may be anything. It must be open.
  void send(std::string_view message);
  void flush();
  /// Bytes that the kernel has not taken yet.
  std::size_t waiting_bytes() const noexcept;
  /// Says goodbye behind what waits to be sent; what the server sends before its answer is still
  /// received, and `ended` tells when that has come.
  void close();

private:
  class life;

  const std::shared_ptr<life> life_;
};

} // namespace pubsub::cluster
