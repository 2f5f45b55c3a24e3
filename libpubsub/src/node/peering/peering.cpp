// SPDX-License-Identifier: BSD-3-Clause
#include "node/peering/peering.hpp"

#include <algorithm>
#include <utility>

#include "base/entropy.hpp"
#include "link/link.hpp"
#include "node/peering/tuning.hpp"

namespace pubsub {

bool starts_as_relay(const endpoint_options& options) noexcept {
  return options.forwarding == forwarding::on ||
         (options.forwarding == forwarding::automatic && options.max_wire_version == 1);
}

peering::peering(const endpoint_id& self, const endpoint_options& options, router& routes,
                 status_hub& events, counter_registry& counts)
    : self_(self), options_(options), routes_(routes), counts_(counts), reports_(events),
      factories_(options.tls, options.memory), inquiries_(inquiries_environment()),
      io_(options.io_threads), acceptor_(options.max_half_open), peers_(options.max_peers),
      access_(options.access, counts.make()), is_relay_(routes.forwards()) {
  loop_ = io_.next();
}

node_inquiries::environment peering::inquiries_environment() {
  return {.self = self_,
          .options = &options_,
          .routes = &routes_,
          .session_of = [this](const endpoint_id& id) { return session_of(id); },
          .session_over = [this](const peer_link& link) { return session_over(link); },
          .look_later =
              [this](auto delay) {
                io_threads::call_later(loop_, delay, [weak = weak_from_this()] {
                  if (const auto self = weak.lock(); self && !self->closed())
                    self->inquiries_.give_up_late_ones();
                });
              }};
}

// -- listening and connecting --------------------------------------------------------------------

expected<std::uint16_t> peering::listen(std::string_view where) {
  auto address = parse_uri(where);
  if (!address)
    return address.error();
  auto make = factories_.make(address->security, tls_role::server);
  if (!make)
    return make.error();
  lock_type lock{mutex_};
  if (closed_)
    return errc::shutting_down;
  auto opened = listener::open(io_.next(), *address);
  if (!opened)
    return opened.error();
  if (auto started = io_.start(); !started)
    return started.error();
  acceptor_.add(*opened);
  lock.unlock();
  become_relay();
  (*opened)->start(
      [weak = weak_from_this(), make = std::move(*make)](std::shared_ptr<asio::io_context> loop,
                                                         stream_protocol::socket socket) {
        if (auto self = weak.lock())
          self->open_session(make(std::move(loop), std::move(socket)), wire::tcp_role::accepting,
                             nullptr);
      },
      [weak = weak_from_this()]() -> std::shared_ptr<asio::io_context> {
        auto self = weak.lock();
        if (!self)
          return nullptr;
        lock_type inner{self->mutex_};
        return !self->closed_ && self->acceptor_.may_accept() ? self->io_.next() : nullptr;
      });
  wait_until(options_.handshake_timeout,
             [&] { return std::ranges::none_of(requests_, &peer_request::changes_role); });
  return (*opened)->port();
}

/// Those that took us for a client are parted from, and peered with again.
void peering::become_relay(const session* because_of) {
  lock_type lock{mutex_};
  if (closed_ || options_.forwarding != forwarding::automatic || is_relay_.exchange(true))
    return;
  auto begun = sessions_;
  std::erase_if(begun, [&](const auto& each) { return each.get() == because_of; });
  for (const auto& each : begun)
    if (each->request())
      each->request()->changes_role = true;
  lock.unlock();
  routes_.start_forwarding();
  lock.lock();
  for (const auto& each : peers_.in_phase(phase::peered, phase::leaving))
    if (begun.erase(each) > 0)
      part(each->remote(), options_.handshake_timeout, lock);
  for (const auto& each : begun)
    each->carrier()->close(
        {errc::peer_disconnect_during_handshake, "this endpoint is a client no more"});
}

expected<void> peering::connect(std::string_view target, const peer_options& options, bool wait) {
  auto address = parse_uri(target);
  if (!address)
    return address.error();
  address->shown = options.alias;
  if (address->port == 0 && address->path.empty())
    return error{errc::invalid_argument,
                 "'" + std::string{target} + "': port 0 cannot be connected to"};
  auto make = factories_.make(address->security, tls_role::client);
  if (!make)
    return make.error();
  lock_type lock{mutex_};
  if (closed_)
    return errc::shutting_down;
  if (auto started = io_.start(); !started)
    return started;
  auto request = make_request(std::move(*address), options, std::move(*make));
  requests_.push_back(request);
  request->connects->attempt_after({});
  if (!wait)
    return {};
  // A peering that was lost before this thread looked has been established all the same.
  auto succeeded = [&] { return request->succeeded || peers_.peered(request->remote) != nullptr; };
  changed_.wait_for(lock, options.timeout, [&] {
    return closed_ || succeeded() || request->stopped || (request->attempted && !options.retry);
  });
  if (succeeded())
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
  auto request = std::make_shared<peer_request>(
      peer_request{.target = target,
                   .options = options,
                   .delays = back_off{first, options.max_retry, random_number()}});
  request->connects = std::make_shared<connector>(
      io_.next(), std::move(target), options_.connect_timeout, std::move(make),
      [weak = weak_from_this(), weak_request = std::weak_ptr{request}](auto connected) {
        const auto self = weak.lock();
        const auto found = weak_request.lock();
        if (!self || !found)
          return;
        if (connected)
          self->open_session(std::move(*connected), wire::tcp_role::connecting, found);
        else
          self->attempt_failed(found, connected.error());
      });
  return request;
}

void peering::open_session(std::shared_ptr<connection> carrier, wire::tcp_role role,
                           std::shared_ptr<peer_request> request) {
  const auto& queue =
      request && request->options.link_queue ? *request->options.link_queue : options_.link_queue;
  adopt(std::make_shared<link>(std::move(carrier), queue, options_.max_handshake_frame_bytes), role,
        std::move(request));
}

void peering::adopt(std::shared_ptr<peer_link> made, wire::tcp_role role,
                    std::shared_ptr<peer_request> request) {
  auto fresh = std::make_shared<session>(shared_from_this(), made, role, std::move(request));
  std::shared_ptr<peer_link> superseded;
  {
    lock_type lock{mutex_};
    if (closed_ || (fresh->request() && fresh->request()->stopped))
      return; // dropping the link closes the socket
    counts_.follow(made);
    sessions_.insert(fresh);
    if (!fresh->request())
      superseded = acceptor_.note_accepted(made);
  }
  if (superseded)
    superseded->close({errc::limit_exceeded, "another connection needed its place"});
  made->post([fresh] { fresh->start(); }); // a listener may run on another loop
}

void peering::attempt_failed(const std::shared_ptr<peer_request>& request, const error& reason) {
  lock_type lock{mutex_};
  if (closed_ || request->stopped)
    return;
  request->note_failure(reason);
  if (!request->options.retry)
    std::erase(requests_, request);
  changed_.notify_all();
  lock.unlock();
  reports_.failed(request->remote, request->where(), reason);
}

// -- for sessions --------------------------------------------------------------------------------

wire::admission peering::admit(session& who, const endpoint_id& remote, bool originator) {
  lock_type lock{mutex_};
  const auto refusal =
      closed_ || retiring_ ? wire::admission::closing : access_.admit(who, remote, peers_);
  return refusal == wire::admission::proceed ? peers_.admit(who, remote, originator) : refusal;
}

void peering::set_access(std::optional<access_rules> rules) {
  lock_type lock{mutex_};
  const auto outcasts = access_.change(std::move(rules), peers_, routes_);
  lock.unlock();
  for (const auto& each : outcasts)
    each->carrier()->close({errc::denied, "access rules have changed"});
  routes_.look_again();
}

void peering::on_peered(const std::shared_ptr<session>& who) {
  lock_type lock{mutex_};
  const auto paused = peers_.settle(who->remote());
  lock.unlock();
  // What a client wants counts once `close` would wait for the client, and before it is reported.
  routes_.client_ready(who->remote());
  lock.lock();
  if (const auto& request = who->request()) {
    request->note_success(who->remote(), who->name());
    request->succeeded = true;
  } else {
    acceptor_.note_settled(who->carrier());
  }
  reports_.added(*who);
  changed_.notify_all();
  lock.unlock();
  for (const auto& each : paused)
    each->reject();
}

void peering::on_closed(const std::shared_ptr<session>& who, wire::handshake::outcome how,
                        error reason) {
  const bool was_peered = how == wire::handshake::outcome::peered;
  if (was_peered)
    routes_.remove_peers({who->remote()});
  const auto& request = who->request();
  lock_type lock{mutex_};
  sessions_.erase(who);
  changed_.notify_all();
  if (was_peered) {
    const bool left = peers_.remove(who->remote()) == phase::leaving;
    left ? reports_.removed(*who, reason) : reports_.lost(*who, reason);
    reconnect(who->remote());
    lock.unlock();
    if (!left)
      reports_.log_loss(*who, reason);
    return;
  }
  if (!request)
    acceptor_.note_settled(who->carrier());
  if (how == wire::handshake::outcome::redundant && peers_.contains(who->remote()) &&
      !peers_.is_current(who)) {
    if (request) // from now on it looks after the other connection
      request->note_success(who->remote(), who->name());
    return;
  }
  std::shared_ptr<session> next;
  if (peers_.abandon(who, next))
    reconnect(who->remote());
  const bool in_new_role = request && std::exchange(request->changes_role, false);
  lock.unlock();
  if (next)
    next->go_on();
  if (!reason)
    reason = {errc::peer_disconnect_during_handshake, "the connection was closed"};
  if (in_new_role)
    request->connects->attempt_after({});
  else if (request)
    attempt_failed(request, {reason.code(), to_string(request->target) + ": " + reason.context()});
  else
    reports_.turned_away(*who, reason);
}

/// Called with the mutex held: requests that relied on a connection to this peer try again.
void peering::reconnect(const endpoint_id& id) {
  for (const auto& request : requests_) {
    if (request->remote != id || !std::exchange(request->connected, false) || request->stopped ||
        closed_)
      continue;
    if (request->changes_role)
      request->connects->attempt_after({});
    else if (request->options.retry)
      request->note_loss();
  }
  std::erase_if(requests_, [&](const auto& each) {
    return each->remote == id && !each->connected && !each->options.retry && !each->changes_role;
  });
}

// -- parting -------------------------------------------------------------------------------------

/// Called with the mutex held. False if there is no such peer.
bool peering::part(const endpoint_id& id, std::chrono::nanoseconds timeout, lock_type& lock) {
  auto* const found = peers_.find(id);
  if (found == nullptr || found->state == phase::connecting)
    return false;
  const auto who = found->current;
  if (std::exchange(found->state, phase::leaving) == phase::leaving)
    return true;
  lock.unlock();
  who->leave(timeout, routes_.remove_peer(id)); // nothing new goes there; what is queued still does
  lock.lock();
  return true;
}

expected<void> peering::disconnect(const endpoint_id& id, std::chrono::nanoseconds timeout) {
  lock_type lock{mutex_};
  for (const auto& request : requests_)
    if (request->remote == id)
      request->stop();
  std::erase_if(requests_, [](const auto& each) { return each->stopped; });
  const auto* const found = peers_.find(id);
  const auto leaving = found == nullptr ? nullptr : found->current;
  if (!part(id, timeout, lock)) {
    lock.unlock();
    return reports_.unknown(id, {}, to_string(id));
  }
  // The peer may have come back at once, if it has asked for this peering too. The link itself
  // gives up at `timeout`; the extra second is for a loop that is busy.
  if (!changed_.wait_for(lock, timeout + std::chrono::seconds{1},
                         [&] { return !peers_.is_current(leaving); }) ||
      leaving->cut_off())
    return error{errc::request_timeout, to_string(id) + " did not say goodbye in time"};
  return {};
}

expected<void> peering::disconnect(std::string_view target, std::chrono::nanoseconds timeout) {
  const auto address = parse_uri(target);
  const auto where = address ? where_is(*address) : network_info{std::string{target}, 0};
  lock_type lock{mutex_};
  const auto found =
      std::ranges::find_if(requests_, [&](const auto& each) { return each->where() == where; });
  if (found == requests_.end()) {
    lock.unlock();
    return address ? reports_.unknown({}, where, to_string(*address)) : address.error();
  }
  const auto request = *found;
  if (request->connected) {
    const auto id = request->remote;
    lock.unlock();
    return disconnect(id, timeout);
  }
  request->stop();
  requests_.erase(found);
  changed_.notify_all();
  return {};
}

bool peering::part_from_clients(const deadline& until) {
  const auto now = std::chrono::steady_clock::now();
  const auto timeout = until ? std::max(*until - now, {}) : peering_tuning::longest_wait;
  lock_type lock{mutex_};
  retiring_ = true;
  acceptor_.stop();
  std::vector<std::shared_ptr<session>> clients;
  for (const auto& each : peers_.in_phase(phase::peered, phase::peered))
    if (each->is_of_client())
      clients.push_back(each);
  for (const auto& each : clients)
    part(each->remote(), timeout, lock);
  return changed_.wait_for(lock, timeout, [&] {
    return std::ranges::none_of(clients,
                                [&](const auto& each) { return sessions_.contains(each); });
  });
}

void peering::close(std::chrono::nanoseconds timeout) noexcept {
  lock_type lock{mutex_};
  if (std::exchange(closed_, true))
    return;
  acceptor_.stop();
  for (const auto& each : requests_)
    each->stop();
  requests_.clear();
  auto unfinished = sessions_;
  std::vector<endpoint_id> established;
  for (const auto& each : peers_.in_phase(phase::peered, phase::leaving)) {
    unfinished.erase(each);
    established.push_back(each->remote());
  }
  for (const auto& each : unfinished)
    each->carrier()->close({errc::shutting_down, "this endpoint is closing"});
  lock.unlock();
  routes_.remove_peers(established); // in one piece of news, not in one for each
  lock.lock();
  for (const auto& id : established)
    part(id, timeout, lock);
  changed_.notify_all();
  changed_.wait_for(lock, timeout, [&] { return sessions_.empty(); });
  for (const auto& each : sessions_)
    each->carrier()->close({errc::peer_timeout, "timeout during graceful disconnect"});
  lock.unlock();
  io_.end();
}

// -- looking -------------------------------------------------------------------------------------

std::vector<peer_info> peering::peers() const {
  lock_type lock{mutex_};
  std::vector<peer_info> result;
  for (const auto& each : peers_.in_phase(phase::peered, phase::peered))
    result.push_back(each->describe());
  const auto n_peered = static_cast<std::ptrdiff_t>(result.size()); // sorted by their ids
  const auto sorted_end = [&] { return result.begin() + n_peered; };
  for (const auto& request : requests_) {
    if (request->connected) { // perhaps over a connection that the peer has made
      const auto found = std::ranges::lower_bound(result.begin(), sorted_end(), request->remote, {},
                                                  &peer_info::id);
      if (found != sorted_end() && found->id == request->remote)
        found->outgoing = true;
      continue;
    }
    auto& away = result.emplace_back();
    away.outgoing = true;
    away.id = request->remote;
    away.name = request->name;
    away.network = request->where();
    away.state = request->remote.is_nil() ? peer_state::connecting : peer_state::lost;
  }
  return result;
}

template <class Condition>
bool peering::wait_until(std::chrono::nanoseconds timeout, Condition met) const {
  lock_type lock{mutex_};
  changed_.wait_until(lock, *deadline_after(std::min(timeout, peering_tuning::longest_wait)),
                      [&] { return closed_ || met(); });
  return met();
}

bool peering::wait_for_peers(std::size_t n, std::chrono::nanoseconds timeout) const {
  return wait_until(timeout, [&] { return peers_.count_peered() >= n; });
}

bool peering::wait_for_peer(const endpoint_id& id, std::chrono::nanoseconds timeout) const {
  return wait_until(timeout, [&] { return peers_.peered(id) != nullptr; });
}

std::vector<peering::asked_peer>
peering::ask_broker_peers(const std::shared_ptr<ready_state>& who) const {
  std::vector<asked_peer> result;
  for (const auto& each : established()) {
    if (!each->carrier()->control_waits_behind_messages())
      continue;
    who->add_part();
    const auto number = each->ask_whether_read([weak = std::weak_ptr{who}] {
      if (const auto waiting = weak.lock())
        waiting->end_part();
    });
    result.push_back({each, number});
  }
  return result;
}

bool peering::wait_until_all_is_read(const deadline& until) const {
  std::vector<std::pair<std::shared_ptr<session>, inquiries::ticket>> asked;
  for (const auto& each : established())
    asked.emplace_back(each, each->ask_whether_read());
  bool all = true;
  for (const auto& [who, ticket] : asked)
    if (!wait_until_settled(ticket.answer, until)) {
      who->give_up(ticket.number);
      all = false;
    }
  return all;
}

std::shared_ptr<session> peering::session_over(const peer_link& link) const {
  lock_type lock{mutex_};
  const auto found = std::ranges::find_if(
      sessions_, [&](const auto& each) { return each->carrier().get() == &link; });
  return found != sessions_.end() ? peers_.peered((*found)->remote()) : nullptr;
}

std::vector<std::shared_ptr<peer_link>> peering::links() const {
  lock_type lock{mutex_};
  std::vector<std::shared_ptr<peer_link>> result;
  for (const auto& each : sessions_)
    result.push_back(each->carrier());
  return result;
}

} // namespace pubsub
