// SPDX-License-Identifier: BSD-3-Clause
#include "transport/listener.hpp"

#include <cstring>
#include <filesystem>

#include <unistd.h>

#include "base/log.hpp"

namespace pubsub {

namespace {

constexpr std::chrono::milliseconds time_between_tries{100};

expected<stream_protocol::endpoint> resolve_local(asio::io_context& loop, const uri& where) {
  if (!where.path.empty())
    return stream_protocol::endpoint{asio::local::stream_protocol::endpoint{where.path}};
  if (where.host.empty())
    return stream_protocol::endpoint{tcp::endpoint{tcp::v6(), where.port}};
  error_code failure;
  tcp::resolver resolver{loop};
  const auto found =
      resolver.resolve(where.host, std::to_string(where.port), tcp::resolver::passive, failure);
  if (failure || found.empty())
    return error{errc::cannot_listen, to_string(where) + ": " + failure.message()};
  return stream_protocol::endpoint{found.begin()->endpoint()};
}

/// A socket that its process has left behind is in the way of the next one.
void remove_if_abandoned(asio::io_context& loop, const std::string& path) {
  error_code failure;
  std::error_code ignored;
  if (!std::filesystem::is_socket(path, ignored))
    return;
  asio::local::stream_protocol::socket probe{loop};
  probe.connect({path}, failure);
  if (failure == asio::error::connection_refused)
    std::filesystem::remove(path, ignored);
}

} // namespace

expected<std::shared_ptr<listener>> listener::open(std::shared_ptr<asio::io_context> loop,
                                                   const uri& where) {
  std::shared_ptr<listener> result{new listener(std::move(loop))};
  if (auto failure = result->bind_to(where))
    return failure;
  return result;
}

error listener::bind_to(const uri& where) {
  const auto local = resolve_local(*loop_, where);
  if (!local)
    return local.error();
  if (!where.path.empty())
    remove_if_abandoned(*loop_, where.path);
  error_code failure;
  const bool any_host = where.path.empty() && where.host.empty();
  open_socket(*local, any_host, failure);
  if (failure == asio::error::address_family_not_supported && any_host) // a host without IPv6
    open_socket(tcp::endpoint{tcp::v4(), where.port}, false, failure);
  if (failure) {
    const bool in_use = failure == asio::error::address_in_use;
    return {in_use ? errc::address_in_use : errc::cannot_listen,
            to_string(where) + ": " + failure.message()};
  }
  path_ = where.path;
  tcp::endpoint bound;
  if (const auto found = acceptor_.local_endpoint(failure); path_.empty()) {
    bound.resize(found.size());
    std::memcpy(bound.data(), found.data(), found.size());
    port_ = bound.port();
  }
  return {};
}

/// `any_host`: for IPv4 as well as IPv6.
void listener::open_socket(stream_protocol::endpoint local, bool any_host, error_code& failure) {
  error_code ignored;
  acceptor_.close(ignored);
  acceptor_.open(local.protocol(), failure);
  if (any_host)
    acceptor_.set_option(asio::ip::v6_only{false}, ignored);
  if (!failure)
    acceptor_.set_option(asio::socket_base::reuse_address{true}, failure);
  if (!failure)
    acceptor_.bind(local, failure);
  if (!failure)
    acceptor_.listen(asio::socket_base::max_listen_connections, failure);
  if (!failure)
    acceptor_.non_blocking(true, failure);
}

void listener::start(callback on_connection, choose_loop choose) {
  on_connection_ = std::move(on_connection);
  choose_ = std::move(choose);
  resume();
}

void listener::accept() {
  if (waiting_ || !acceptor_.is_open())
    return;
  waiting_ = true;
  acceptor_.async_wait(asio::socket_base::wait_read,
                       [self = shared_from_this()](error_code failure) {
                         self->waiting_ = false;
                         if (self->acceptor_.is_open())
                           failure ? self->fail(failure) : self->accept_one();
                       });
}

/// There is a connection, unless it has gone again.
void listener::accept_one() {
  auto target = choose_();
  if (!target)
    return try_later();
  error_code failure;
  auto socket = acceptor_.accept(*target, failure);
  if (!failure)
    on_connection_(std::move(target), std::move(socket));
  else if (failure != asio::error::would_block && failure != asio::error::connection_aborted)
    return fail(failure);
  accept();
}

/// As when the process is out of descriptors: at once it would fail at once, for ever.
void listener::fail(const error_code& failure) {
  log(log_level::warning, "accepting a connection failed: " + failure.message());
  try_later();
}

void listener::try_later() {
  timer_.expires_after(time_between_tries);
  timer_.async_wait([self = shared_from_this()](error_code cancelled) {
    if (!cancelled)
      self->accept();
  });
}

void listener::resume() {
  asio::post(*loop_, [self = shared_from_this()] { self->accept(); });
}

void listener::stop() {
  asio::post(*loop_, [self = shared_from_this()] {
    error_code ignored;
    self->acceptor_.close(ignored);
    self->timer_.cancel();
    if (!self->path_.empty())
      ::unlink(self->path_.c_str());
  });
}

} // namespace pubsub
