// SPDX-License-Identifier: BSD-3-Clause
#include "transport/connector.hpp"

#include <thread>

#include <boost/asio/connect.hpp>

namespace pubsub {

connector::connector(std::shared_ptr<asio::io_context> loop, uri target,
                     std::chrono::nanoseconds connect_timeout, connection_factory make,
                     callback report)
    : loop_(std::move(loop)), target_(std::move(target)), connect_timeout_(connect_timeout),
      make_(std::move(make)), report_(std::move(report)), timer_(*loop_) {}

void connector::attempt_after(std::chrono::nanoseconds delay) {
  asio::post(*loop_, [self = shared_from_this(), delay] {
    if (self->stopped_ || self->current_ != 0)
      return;
    self->timer_.expires_after(delay);
    self->timer_.async_wait([self](error_code cancelled) {
      if (!cancelled && !self->stopped_ && self->current_ == 0)
        self->attempt();
    });
  });
}

void connector::stop() {
  asio::post(*loop_, [self = shared_from_this()] {
    self->stopped_ = true;
    self->end_attempt();
  });
}

void connector::attempt() {
  current_ = ++attempts_;
  timer_.expires_after(connect_timeout_);
  timer_.async_wait([self = shared_from_this(), number = current_](error_code cancelled) {
    if (!cancelled && self->current_ == number)
      self->fail(self->socket_ ? "no answer in time" : "the name was not resolved in time");
  });
  if (!target_.path.empty())
    return connect({asio::local::stream_protocol::endpoint{target_.path}});
  error_code not_numeric;
  const auto address = asio::ip::make_address(target_.host, not_numeric);
  if (not_numeric)
    return resolve();
  connect({tcp::endpoint{address, target_.port}});
}

/// The system's resolver cannot be interrupted. It gets a thread of its own that is never joined
/// and keeps nothing alive: neither the connector nor the loop.
void connector::resolve() {
  const auto host = target_.host.empty() ? "localhost" : target_.host;
  std::thread{[host, port = std::to_string(target_.port), number = current_,
               weak = weak_from_this(), weak_loop = std::weak_ptr{loop_}] {
    asio::io_context own;
    error_code failure;
    std::vector<stream_protocol::endpoint> found;
    for (const auto& each : tcp::resolver{own}.resolve(host, port, failure))
      found.emplace_back(each.endpoint());
    auto loop = weak_loop.lock();
    if (!loop)
      return;
    asio::post(*loop, [weak, number, failure, found = std::move(found)]() mutable {
      auto self = weak.lock();
      if (!self || self->current_ != number)
        return;
      if (failure)
        return self->fail(failure.message());
      self->connect(std::move(found));
    });
  }}.detach();
}

void connector::connect(std::vector<stream_protocol::endpoint> found) {
  socket_ = std::make_shared<stream_protocol::socket>(*loop_);
  asio::async_connect(*socket_, std::move(found),
                      [self = shared_from_this(), socket = socket_,
                       number = current_](error_code failure, const auto&) {
                        if (self->current_ != number)
                          return;
                        if (failure)
                          return self->fail(failure.message());
                        auto ready = self->make_(self->loop_, std::move(*socket));
                        self->end_attempt();
                        self->report_(std::move(ready));
                      });
}

/// What the attempt has begun ends with an error, later, and changes nothing then.
void connector::end_attempt() {
  current_ = 0;
  timer_.cancel();
  if (const auto socket = std::exchange(socket_, nullptr)) {
    error_code ignored;
    socket->close(ignored);
  }
}

void connector::fail(const std::string& why) {
  end_attempt();
  report_(error{errc::peer_unavailable, to_string(target_) + ": " + why});
}

} // namespace pubsub
