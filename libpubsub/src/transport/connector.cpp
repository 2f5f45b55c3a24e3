#include "transport/connector.hpp"

#include <string>
#include <thread>

#include <boost/asio/connect.hpp>

namespace pubsub {

connector::connector(std::shared_ptr<asio::io_context> loop, uri target,
                     std::chrono::milliseconds connect_timeout, connection_factory make,
                     callbacks report)
    : loop_(std::move(loop)), target_(std::move(target)), connect_timeout_(connect_timeout),
      make_(std::move(make)), report_(std::move(report)), timer_(*loop_) {}

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
  ++attempts_;
  timer_.expires_after(connect_timeout_);
  timer_.async_wait([self = shared_from_this()](error_code cancelled) {
    if (!cancelled && self->attempting_)
      self->on_time_out();
  });
  error_code not_numeric;
  const auto address = asio::ip::make_address(target_.host, not_numeric);
  if (not_numeric)
    return resolve();
  const auto port = std::to_string(target_.port);
  on_resolved({}, tcp::resolver::results_type::create({address, target_.port}, target_.host, port));
}

void connector::on_time_out() {
  if (resolving_) // what is found later is for nobody
    return fail("the name was not resolved in time");
  timed_out_ = true;
  if (socket_) {
    error_code ignored;
    socket_->close(ignored);
  }
}

/// The system's resolver cannot be interrupted. It gets a thread of its own, for which nobody waits
/// and which keeps nothing alive: not this, and not the loop.
void connector::resolve() {
  resolving_ = true;
  const auto host = target_.host.empty() ? "localhost" : target_.host;
  std::thread{[host, port = std::to_string(target_.port), attempt = attempts_,
               weak = weak_from_this(), weak_loop = std::weak_ptr{loop_}] {
    asio::io_context own;
    error_code failure;
    auto found = tcp::resolver{own}.resolve(host, port, failure);
    auto loop = weak_loop.lock();
    if (!loop)
      return;
    asio::post(*loop, [weak, attempt, failure, found = std::move(found)] {
      if (auto self = weak.lock(); self && self->resolving_ && self->attempts_ == attempt)
        self->on_resolved(failure, found);
    });
  }}.detach();
}

void connector::on_resolved(const error_code& failure, tcp::resolver::results_type found) {
  resolving_ = false;
  if (stopped_)
    return;
  if (failure)
    return fail(failure.message());
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
  auto ready = make_(loop_, std::move(*socket_));
  socket_.reset();
  report_.on_connected(std::move(ready));
}

void connector::fail(const std::string& why) {
  attempting_ = false;
  resolving_ = false;
  timer_.cancel();
  report_.on_failed({errc::peer_unavailable, to_string(target_) + ": " + why});
}

} // namespace pubsub
