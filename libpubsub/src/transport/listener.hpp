// Accepts connections at one address.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <memory>
#include <string>

#include <boost/asio/basic_socket_acceptor.hpp>

#include <pubsub/error.hpp>

#include "transport/connection.hpp"
#include "transport/uri.hpp"

namespace pubsub {

/// Listens on IPv4 and IPv6 alike where the host is empty. A path gets the permissions that the
/// umask leaves, takes the place of one that no process listens at any more, and is removed by
/// `stop`. Thread-safety: `resume` and `stop` from any thread; the callback comes on the listener's
/// loop.
class listener : public std::enable_shared_from_this<listener> {
public:
  using callback = std::function<void(std::shared_ptr<asio::io_context>, stream_protocol::socket)>;
  /// Gives the loop the next accepted connection is to live on; null leaves it waiting in the
  /// kernel until `resume`, or until this is asked again soon. Asked for each connection, on the
  /// listener's loop.
  using choose_loop = std::function<std::shared_ptr<asio::io_context>()>;

  /// Binds and listens. Errors: address_in_use, cannot_listen; the context names the address.
  static expected<std::shared_ptr<listener>> open(std::shared_ptr<asio::io_context> loop,
                                                  const uri& where);

  /// 0 for a path.
  std::uint16_t port() const noexcept { return port_; }
  void start(callback on_connection, choose_loop choose);
  void resume();
  void stop();

private:
  listener(std::shared_ptr<asio::io_context> loop)
      : loop_(std::move(loop)), acceptor_(*loop_), timer_(*loop_) {}
  error bind_to(const uri& where);
  void open_socket(stream_protocol::endpoint local, bool any_host, error_code& failure);
  void accept();
  void accept_one();
  void fail(const error_code& failure);
  void try_later();

  std::shared_ptr<asio::io_context> loop_;
  asio::basic_socket_acceptor<stream_protocol> acceptor_;
  asio::steady_timer timer_; // until the next try
  std::uint16_t port_ = 0;
  std::string path_; // to be removed
  callback on_connection_;
  choose_loop choose_;
  bool waiting_ = false; // for a connection
};

} // namespace pubsub
