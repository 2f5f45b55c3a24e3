// A byte stream to one peer over TCP or within the host, in the clear or encrypted.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include <pubsub/error.hpp>
#include <pubsub/status.hpp>

#include "base/peer_identity.hpp"
#include "transport/asio.hpp"

namespace pubsub {

/// One connection. At most one read and one write are pending at a time. Handlers run on the loop
/// the connection was made for; they are called with an error after `close`. Except for
/// `try_write`, use it from its loop only.
class connection {
public:
  using handler = std::function<void(error_code, std::size_t transferred)>;

  /// In the clear. Small pieces are sent at once, and the socket never blocks.
  connection(std::shared_ptr<asio::io_context> loop, stream_protocol::socket socket);
  virtual ~connection() = default;

  virtual void read_some(asio::mutable_buffer into, handler on_done);
  /// From any thread, but not while a write is pending or after `close`: writes as much as can be
  /// written at once. Returns the number of bytes; failures show in the next `write_some`.
  virtual std::size_t try_write(std::span<const asio::const_buffer> from) noexcept;
  virtual void write_some(std::span<const asio::const_buffer> from, handler on_done);
  virtual void close() noexcept;
  /// What the failure a handler was called with means for the peering. Errors: peer_unavailable,
  /// tls_failed.
  virtual error explain(const error_code& failure) const;
  virtual bool encrypted() const noexcept { return false; }
  /// Who the peer is. On the loop, once it has spoken.
  virtual peer_identity identity() const;
  /// As the kernel measures it over TCP; nothing within the host. On the loop.
  std::optional<std::chrono::microseconds> round_trip() const;
  /// Memory that both sides share to carry bytes; 0 where a socket carries them. From any thread.
  virtual std::size_t shared_bytes() const noexcept { return 0; }
  /// Whether the peer has said anything that was not handed to a read. From any thread.
  virtual bool has_spoken() const noexcept { return false; }
  /// The other side, IPv4 addresses as such, or the path within the host; empty if it is already
  /// gone.
  network_info remote() const;
  /// Kept alive by every connection it serves.
  const std::shared_ptr<asio::io_context>& loop() const noexcept { return loop_; }

protected:
  /// After `close`: calls the handler with an error, from the loop, if one is waiting.
  void abort_later(handler& waiting);

  const std::shared_ptr<asio::io_context> loop_; // outlives the socket
  stream_protocol::socket socket_;
};

/// Makes a connection of some kind from a connected socket of the loop.
using connection_factory = std::function<std::shared_ptr<connection>(
    std::shared_ptr<asio::io_context> loop, stream_protocol::socket socket)>;

} // namespace pubsub
