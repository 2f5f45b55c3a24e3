#include "link/connector.hpp"

#include <boost/asio/connect.hpp>

namespace pubsub {

connector::connector(std::shared_ptr<asio::io_context> loop, uri target,
                     std::chrono::milliseconds connect_timeout, callbacks report)
    : loop_(std::move(loop)), target_(std::move(target)), connect_timeout_(connect_timeout),
      report_(std::move(report)), resolver_(*loop_), timer_(*loop_) {}

void connector::retry_now() {
  retry_later(std::chrono::milliseconds{0});
}

void connector::retry_later(std::chrono::milliseconds delay) {
  asio::post(*loop_, [self = shared_from_this(), delay] {
    if (self->stopped_ || self->attempting_)
      return;
    self->timer_.expires_after(delay);
    self->timer_.async_wait([self](error_code cancelled) {
      if (!cancelled)
        self->attempt();
    });
  });
}

void connector::stop() {
  asio::post(*loop_, [self = shared_from_this()] {
    self->stopped_ = true;
    self->resolver_.cancel();
    self->timer_.cancel();
    if (self->socket_) {
      error_code ignored;
      self->socket_->close(ignored);
    }
  });
}

void connector::attempt() {
  if (stopped_ || attempting_)
    return;
  attempting_ = true;
  timed_out_ = false;
  timer_.expires_after(connect_timeout_);
  timer_.async_wait([self = shared_from_this()](error_code cancelled) {
    if (cancelled || !self->attempting_)
      return;
    self->timed_out_ = true;
    self->resolver_.cancel();
    if (self->socket_) {
      error_code ignored;
      self->socket_->close(ignored);
    }
  });
  const auto host = target_.host.empty() ? "localhost" : target_.host;
  resolver_.async_resolve(host, std::to_string(target_.port),
                          [self = shared_from_this()](error_code failure, auto found) {
                            self->on_resolved(failure, std::move(found));
                          });
}

void connector::on_resolved(const error_code& failure, tcp::resolver::results_type found) {
  if (stopped_)
    return;
  if (failure || timed_out_)
    return fail(timed_out_ ? "the name was not resolved in time" : failure.message());
  found_ = std::move(found);
  socket_.emplace(*loop_);
  asio::async_connect(
      *socket_, found_,
      [self = shared_from_this()](error_code result, const auto&) { self->on_connect(result); });
}

void connector::on_connect(const error_code& failure) {
  if (stopped_)
    return;
  if (failure || timed_out_) {
    socket_.reset();
    return fail(timed_out_ ? "no answer in time" : failure.message());
  }
  attempting_ = false;
  timer_.cancel();
  auto ready = make_tcp_connection(loop_, std::move(*socket_));
  socket_.reset();
  report_.on_connected(std::move(ready));
}

void connector::fail(const std::string& why) {
  attempting_ = false;
  timer_.cancel();
  report_.on_failed({errc::peer_unavailable, to_string(target_) + ": " + why});
}

} // namespace pubsub
