#include "node/peering/peering.hpp"

#include <algorithm>

#include "base/log.hpp"
#include "node/peering/tuning.hpp"

namespace pubsub {

using namespace peering_tuning;

peering::peering(const endpoint_id& self, const endpoint_options& options, router& routes,
                 status_hub& events, counter_registry& counts)
    : self_(self), options_(options), routes_(routes), events_(events), counts_(counts),
      io_(options.io_threads) {}

// -- the peer status map -------------------------------------------------------------------------

wire::admission peering::admit(session& who, const endpoint_id& remote, bool originator) {
  lock_type lock{mutex_};
  if (closed_)
    return wire::admission::closing;
  auto [found, fresh] = peers_.try_emplace(remote);
  if (fresh) {
    found->second.current = who.shared_from_this();
    return wire::admission::proceed;
  }
  if (!originator)
    return wire::admission::illegal;
  if (found->second.state != phase::connecting)
    return wire::admission::redundant;
  found->second.paused.push_back(who.shared_from_this());
  return wire::admission::pause;
}

bool peering::is_known(const endpoint_id& remote) const {
  lock_type lock{mutex_};
  return peers_.contains(remote);
}

void peering::on_peered(const std::shared_ptr<session>& who) {
  const auto& id = who->remote();
  if (who->carrier()->version() == 1)
    routes_.add_broker_peer(id, who->carrier(), who->remote_filter(), who->announced());
  else
    routes_.neighbour_ready(id);
  lock_type lock{mutex_};
  auto& peer = peers_[id];
  peer.state = phase::peered;
  if (who->request()) {
    has_connected(*who->request(), id);
  } else {
    --half_open_;
    balance_accepting();
  }
  events_.publish({status_code::endpoint_discovered, id, {}, "found a new peer in the network"});
  events_.publish({status_code::peer_added, id, who->carrier()->remote(), "handshake successful"});
  const auto paused = std::exchange(peer.paused, {});
  changed_.notify_all();
  lock.unlock();
  for (const auto& each : paused)
    each->reject();
}

void peering::on_closed(const std::shared_ptr<session>& who, wire::handshake::outcome how,
                        error reason) {
  lock_type lock{mutex_};
  sessions_.erase(who);
  if (!who->request() && how != wire::handshake::outcome::peered) {
    --half_open_;
    balance_accepting();
  }
  if (how == wire::handshake::outcome::peered)
    return lost(who, reason, lock);
  const auto other = peers_.find(who->remote());
  if (how == wire::handshake::outcome::redundant && other != peers_.end() &&
      other->second.current != who) {
    if (const auto& request = who->request()) // from now on it looks after the other connection
      has_connected(*request, who->remote());
    changed_.notify_all();
    return;
  }
  auto next = abandon_handshake(who);
  changed_.notify_all();
  lock.unlock();
  if (next)
    next->go_on();
  if (!reason)
    reason = {errc::peer_disconnect_during_handshake, "the connection was closed"};
  if (const auto& request = who->request())
    attempt_failed(request, {reason.code(), to_string(request->target) + ": " + reason.context()});
  else
    turn_away(*who, reason);
}

/// An accepted connection did not become a peering. That is usual on the internet; but if it is for
/// TLS or for the peer's version the operator has to do something about it. Strangers cannot flood
/// the log.
void peering::turn_away(const session& who, const error& reason) {
  const auto& where = who.carrier()->remote();
  const bool tls = reason == errc::tls_failed;
  const auto now = std::chrono::steady_clock::now();
  lock_type lock{mutex_};
  const bool warn = (tls || reason == errc::peer_incompatible) && now >= next_warning_;
  if (warn)
    next_warning_ = now + time_between_warnings;
  lock.unlock();
  log(warn ? log_level::warning : log_level::info,
      "a connection from " + where.address + " did not become a peering: " + reason.message());
  if (tls)
    events_.publish({reason.code(), who.remote(), where, reason.context()});
}

/// Called with the mutex held, for a connection that did not get through the handshake. Returns the
/// one that has waited for it.
std::shared_ptr<session> peering::abandon_handshake(const std::shared_ptr<session>& who) {
  auto found = peers_.find(who->remote());
  if (found == peers_.end())
    return nullptr;
  auto& peer = found->second;
  if (peer.current != who) {
    std::erase(peer.paused, who);
    return nullptr;
  }
  if (!peer.paused.empty()) {
    peer.current = peer.paused.front();
    peer.paused.erase(peer.paused.begin());
    return peer.current;
  }
  peers_.erase(found);
  reconnect(who->remote());
  return nullptr;
}

/// Called with the mutex held.
void peering::has_connected(peer_request& request, const endpoint_id& id) {
  request.remote = id;
  request.connected = true;
  request.connected_at = std::chrono::steady_clock::now();
}

/// Called with the mutex held: at once; but where peering after peering ends as soon as it has
/// begun, with delays, as after attempts that fail.
void peering::connect_again(peer_request& request) {
  const auto lasted = std::chrono::steady_clock::now() - request.connected_at;
  request.short_peerings = lasted < short_peering ? request.short_peerings + 1 : 0;
  if (request.short_peerings <= 1)
    request.delays.reset();
  if (request.short_peerings < suspicious_peerings)
    request.connects->attempt_after({});
  else
    request.connects->attempt_after(request.delays.next());
}

/// Called with the mutex held: requests that relied on a connection to this peer try again.
void peering::reconnect(const endpoint_id& id) {
  for (const auto& request : requests_)
    if (request->remote == id && std::exchange(request->connected, false) &&
        request->options.retry && !request->stopped && !closed_)
      connect_again(*request);
  std::erase_if(requests_, [&](const auto& each) {
    return each->remote == id && !each->connected && !each->options.retry;
  });
}

/// An established peering has ended.
void peering::lost(const std::shared_ptr<session>& who, const error& reason, lock_type& lock) {
  const auto& id = who->remote();
  lock.unlock();
  routes_.remove_peers({id});
  lock.lock();
  const auto was = peers_[id].state;
  peers_.erase(id);
  announce_loss(*who, was, reason);
  reconnect(id);
  changed_.notify_all();
}

void peering::announce_loss(const session& who, phase was, const error& reason) {
  const auto& id = who.remote();
  const auto& where = who.carrier()->remote();
  if (was == phase::leaving) {
    const auto suffix = reason ? " (" + reason.context() + ")" : std::string{};
    events_.publish(
        {status_code::peer_removed, id, where, "removed connection to remote peer" + suffix});
  } else {
    events_.publish({status_code::peer_lost, id, where, "lost connection to remote peer"});
    if (reason && reason.code() != errc::peer_unavailable) { // more than a closed socket
      log(log_level::warning, "the link to " + where.address + ":" + std::to_string(where.port) +
                                  " was closed: " + reason.message());
      events_.publish({reason.code(), id, where, reason.context()});
    }
  }
  events_.publish({status_code::endpoint_unreachable, id, {}, "lost the last path"});
}

// -- parting
// ---------------------------------------------------------------------------------------

/// Called with the mutex held. False if there is no such peer.
bool peering::part(const endpoint_id& id, std::chrono::milliseconds timeout, lock_type& lock) {
  auto found = peers_.find(id);
  if (found == peers_.end() || found->second.state == phase::connecting)
    return false;
  auto who = found->second.current;
  const bool first = std::exchange(found->second.state, phase::leaving) != phase::leaving;
  lock.unlock();
  if (first) {
    // Nothing new goes there; what is queued still does.
    who->leave(timeout, routes_.remove_peer(id));
  }
  lock.lock();
  return true;
}

void peering::stop_request(peer_request& request) {
  request.stopped = true;
  request.connects->stop();
}

expected<void> peering::disconnect(const endpoint_id& id, std::chrono::milliseconds timeout) {
  lock_type lock{mutex_};
  for (const auto& request : requests_)
    if (request->remote == id)
      stop_request(*request);
  std::erase_if(requests_, [](const auto& each) { return each->stopped; });
  const auto found = peers_.find(id);
  const auto leaving = found == peers_.end() ? nullptr : found->second.current;
  if (!part(id, timeout, lock)) {
    lock.unlock();
    events_.publish({errc::peer_invalid, id, {}, "cannot unpeer from unknown peer"});
    return error{errc::peer_invalid, to_string(id) + " is not a peer"};
  }
  auto gone = [&] { // the peer may have come back at once, if it wants this peering too
    const auto now = peers_.find(id);
    return now == peers_.end() || now->second.current != leaving;
  };
  // The link itself gives up at `timeout`; the extra second is for a loop that is busy.
  if (!changed_.wait_for(lock, timeout + std::chrono::seconds{1}, gone) || leaving->cut_off())
    return error{errc::request_timeout, to_string(id) + " did not say goodbye in time"};
  return {};
}

expected<void> peering::disconnect(std::string_view target, std::chrono::milliseconds timeout) {
  auto address = parse_uri(target);
  if (!address)
    return address.error();
  lock_type lock{mutex_};
  auto found = std::ranges::find_if(requests_, [&](const auto& each) {
    return each->target.host == address->host && each->target.port == address->port;
  });
  if (found == requests_.end()) {
    lock.unlock();
    events_.publish({errc::peer_invalid,
                     {},
                     network_info{address->host, address->port},
                     "cannot unpeer from unknown peer"});
    return error{errc::peer_invalid, to_string(*address) + " is not a peer"};
  }
  auto request = *found;
  if (request->connected) {
    const auto id = request->remote;
    lock.unlock();
    return disconnect(id, timeout);
  }
  stop_request(*request);
  requests_.erase(found);
  changed_.notify_all();
  return {};
}

void peering::close(std::chrono::milliseconds timeout) noexcept {
  lock_type lock{mutex_};
  if (std::exchange(closed_, true))
    return;
  for (const auto& each : listeners_)
    each->stop();
  for (const auto& each : requests_)
    stop_request(*each);
  auto unfinished = sessions_;
  std::vector<endpoint_id> established;
  for (const auto& [id, peer] : peers_)
    if (peer.state != phase::connecting) {
      unfinished.erase(peer.current);
      established.push_back(id);
    }
  for (const auto& each : unfinished)
    each->cut({errc::shutting_down, "this endpoint is closing"});
  lock.unlock();
  routes_.remove_peers(established); // in one piece of news, not in one for each
  lock.lock();
  for (const auto& id : established)
    part(id, timeout, lock);
  changed_.notify_all();
  changed_.wait_for(lock, timeout, [&] { return sessions_.empty(); });
  for (const auto& each : sessions_)
    each->cut({errc::peer_timeout, "timeout during graceful disconnect"});
  lock.unlock();
  io_.stop();
  io_.flush();
}

// -- looking ------------------------------------------------------------------------------------

std::size_t peering::peered_count() const {
  return static_cast<std::size_t>(std::ranges::count_if(
      peers_, [](const auto& each) { return each.second.state == phase::peered; }));
}

bool peering::is_peered(const endpoint_id& id) const {
  auto found = peers_.find(id);
  return found != peers_.end() && found->second.state == phase::peered;
}

std::vector<peer_info> peering::peers() const {
  lock_type lock{mutex_};
  std::vector<peer_info> result;
  for (const auto& [id, peer] : peers_)
    if (peer.state == phase::peered)
      result.push_back({id, peer.current->carrier()->remote(), peer_state::peered,
                        routes_.peer_filter(id), peer.current->carrier()->counters(),
                        peer.current->carrier()->version()});
  for (const auto& request : requests_)
    if (!request->connected)
      result.push_back({request->remote,
                        network_info{request->target.host, request->target.port},
                        request->remote.is_nil() ? peer_state::connecting : peer_state::lost,
                        {},
                        {},
                        0});
  return result;
}

bool peering::wait_for_peers(std::size_t n, std::chrono::nanoseconds timeout) const {
  lock_type lock{mutex_};
  changed_.wait_until(lock, *deadline_after(std::min(timeout, longest_wait)),
                      [&] { return closed_ || peered_count() >= n; });
  return peered_count() >= n;
}

bool peering::wait_for_peer(const endpoint_id& id, std::chrono::nanoseconds timeout) const {
  lock_type lock{mutex_};
  changed_.wait_until(lock, *deadline_after(std::min(timeout, longest_wait)),
                      [&] { return closed_ || is_peered(id); });
  return is_peered(id);
}

std::vector<std::shared_ptr<session>> peering::established() const {
  lock_type lock{mutex_};
  std::vector<std::shared_ptr<session>> result;
  for (const auto& [id, peer] : peers_)
    if (peer.state == phase::peered)
      result.push_back(peer.current);
  return result;
}

bool peering::wait_until_read_by_broker_peers(const deadline& until) const {
  std::vector<std::pair<std::shared_ptr<session>, inquiries::ticket>> asked;
  for (const auto& each : established())
    if (each->carrier()->version() == 1)
      asked.emplace_back(each, each->ask_whether_read());
  bool all = true;
  for (const auto& [who, ticket] : asked)
    if (ticket.question->wait(until) == inquiry::outcome::open) {
      who->forget(ticket);
      all = false;
    }
  return all;
}

std::shared_ptr<session> peering::session_of(const endpoint_id& id) const {
  lock_type lock{mutex_};
  return is_peered(id) ? peers_.at(id).current : nullptr;
}

std::vector<std::shared_ptr<peer_link>> peering::links() const {
  lock_type lock{mutex_};
  std::vector<std::shared_ptr<peer_link>> result;
  for (const auto& each : sessions_)
    result.push_back(each->carrier());
  return result;
}

} // namespace pubsub
