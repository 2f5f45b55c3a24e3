// A byte stream to one peer, whatever carries it.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include <pubsub/status.hpp>

#include "link/asio.hpp"

namespace pubsub {

/// One connection. At most one read and one write are pending at a time. Handlers run on the loop
/// the connection was made for; they are called with an error after `close`. Not thread-safe: use
/// it from its loop only.
class connection {
public:
  using handler = std::function<void(error_code, std::size_t transferred)>;

  virtual ~connection() = default;
  virtual void read_some(asio::mutable_buffer into, handler on_done) = 0;
  virtual void write_some(std::span<const asio::const_buffer> from, handler on_done) = 0;
  virtual void close() noexcept = 0;
  /// The other side; empty if it is already gone.
  virtual network_info remote() const = 0;
  /// Kept alive by every connection it serves.
  virtual const std::shared_ptr<asio::io_context>& loop() const noexcept = 0;
};

std::unique_ptr<connection> make_tcp_connection(std::shared_ptr<asio::io_context> loop,
                                                tcp::socket socket);

} // namespace pubsub
