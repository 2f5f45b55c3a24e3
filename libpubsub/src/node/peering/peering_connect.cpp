// The part of the peering that makes connections: listening, connecting, retrying.
#include "node/peering/peering.hpp"

#include <algorithm>
#include <random>

#include "link/link.hpp"

namespace pubsub {

// -- connecting and accepting --------------------------------------------------------------------

/// Reads keys and certificates when they are first needed. Errors: those of `check(tls_options)`.
expected<connection_factory> peering::factory_for(encryption security, tls_role role) {
  if (security == encryption::none)
    return connection_factory{make_tcp_connection};
  std::lock_guard lock{tls_mutex_};
  if (!tls_) {
    auto made = tls_context::make(options_.tls);
    if (!made)
      return made.error();
    tls_ = std::move(*made);
  }
  return connection_factory{
      [context = tls_, role](std::shared_ptr<asio::io_context> loop, tcp::socket socket) {
        return make_tls_connection(std::move(loop), std::move(socket), context, role,
                                   role == tls_role::server ? wire::make_tls_refusal()
                                                            : std::vector<std::byte>{});
      }};
}

expected<std::uint16_t> peering::listen(std::string_view where) {
  auto address = parse_uri(where);
  if (!address)
    return address.error();
  auto make = factory_for(address->security, tls_role::server);
  if (!make)
    return make.error();
  lock_type lock{mutex_};
  if (closed_)
    return errc::shutting_down;
  auto opened = listener::open(io_.next(), *address);
  if (!opened)
    return opened.error();
  io_.start();
  listeners_.push_back(*opened);
  (*opened)->start(
      [weak = weak_from_this(), make = std::move(*make)](std::shared_ptr<asio::io_context> loop,
                                                         tcp::socket socket) {
        if (auto self = weak.lock())
          self->open_session(make(std::move(loop), std::move(socket)), wire::tcp_role::accepting,
                             nullptr);
      },
      [weak = weak_from_this()]() -> std::shared_ptr<asio::io_context> {
        auto self = weak.lock();
        if (!self)
          return nullptr;
        lock_type inner{self->mutex_};
        self->accepting_paused_ = self->half_open_ >= self->options_.max_half_open;
        return self->accepting_paused_ ? nullptr : self->io_.next();
      });
  return (*opened)->port();
}

expected<void> peering::connect(std::string_view target, const peer_options& options, bool wait) {
  auto address = parse_uri(target);
  if (!address)
    return address.error();
  if (address->port == 0)
    return error{errc::invalid_argument,
                 "'" + std::string{target} + "': port 0 cannot be connected to"};
  auto make = factory_for(address->security, tls_role::client);
  if (!make)
    return make.error();
  lock_type lock{mutex_};
  if (closed_)
    return errc::shutting_down;
  io_.start();
  auto request = make_request(std::move(*address), options, std::move(*make));
  requests_.push_back(request);
  request->connects->attempt_after({});
  if (!wait)
    return {};
  auto settled = [&] {
    return closed_ || is_peered(request->remote) || request->stopped ||
           (request->attempted && !options.retry);
  };
  changed_.wait_for(lock, options.timeout, settled);
  if (is_peered(request->remote))
    return {};
  if (closed_ || request->stopped)
    return errc::shutting_down;
  if (request->last_failure)
    return request->last_failure;
  return error{errc::peer_unavailable, to_string(request->target) + ": no answer in time"};
}

std::shared_ptr<peer_request> peering::make_request(uri target, const peer_options& options,
                                                    connection_factory make) {
  const auto first = options.retry.value_or(options.max_retry);
  auto request = std::make_shared<peer_request>(peer_request{
      .target = target,
      .options = options,
      .connects = nullptr,
      .remote = {},
      .delays = back_off{first, options.max_retry, std::random_device{}()},
      .last_failure = {},
  });
  connector::callbacks report{
      .on_connected =
          [weak = weak_from_this(),
           weak_request = std::weak_ptr{request}](std::shared_ptr<connection> carrier) {
            auto self = weak.lock();
            if (auto found = weak_request.lock(); self && found)
              self->open_session(std::move(carrier), wire::tcp_role::connecting, found);
          },
      .on_failed =
          [weak = weak_from_this(), weak_request = std::weak_ptr{request}](const error& reason) {
            auto self = weak.lock();
            if (auto found = weak_request.lock(); self && found)
              self->attempt_failed(found, reason);
          }};
  request->connects = std::make_shared<connector>(
      io_.next(), std::move(target), options_.connect_timeout, std::move(make), std::move(report));
  return request;
}

void peering::open_session(std::shared_ptr<connection> carrier, wire::tcp_role role,
                           std::shared_ptr<peer_request> request) {
  const auto& queue =
      request && request->options.link_queue ? *request->options.link_queue : options_.link_queue;
  adopt(link::make(std::move(carrier), queue, options_.max_handshake_frame_bytes), role,
        std::move(request));
}

void peering::adopt(std::shared_ptr<peer_link> made, wire::tcp_role role,
                    std::shared_ptr<peer_request> request) {
  counts_.follow(made);
  auto fresh = std::make_shared<session>(shared_from_this(), made, role, std::move(request));
  {
    lock_type lock{mutex_};
    if (closed_ || (fresh->request() && fresh->request()->stopped))
      return; // dropping the link closes the socket
    sessions_.insert(fresh);
    half_open_ += role == wire::tcp_role::accepting ? 1 : 0;
    balance_accepting();
  }
  made->post([fresh] { fresh->start(); }); // a listener may run on another loop
}

/// Called with the mutex held.
void peering::balance_accepting() {
  if (!accepting_paused_ || half_open_ >= options_.max_half_open)
    return;
  accepting_paused_ = false;
  for (const auto& each : listeners_)
    each->resume();
}

void peering::attempt_failed(const std::shared_ptr<peer_request>& request, const error& reason) {
  lock_type lock{mutex_};
  if (closed_ || request->stopped)
    return;
  request->attempted = true;
  request->last_failure = reason;
  if (request->options.retry)
    request->connects->attempt_after(request->delays.next());
  else
    std::erase(requests_, request);
  changed_.notify_all();
  lock.unlock();
  events_.publish({reason.code(), request->remote,
                   network_info{request->target.host, request->target.port}, reason.context()});
}

} // namespace pubsub
