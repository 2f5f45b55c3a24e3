#include "endpoint/router.hpp"

#include "wire/envelope.hpp"

namespace pubsub {

router::router(const endpoint_id& self, filter forward_topics, bool forwarding)
    : self_(self), table_(std::move(forward_topics), forwarding) {}

subscriber_id router::add_subscriber(std::shared_ptr<message_queue> queue, const filter& wanted) {
  std::lock_guard lock{mutex_};
  const auto id = ++last_id_;
  if (closed_) {
    queue->finish();
    return id;
  }
  queues_.emplace(id, std::move(queue));
  table_.add_local(id, wanted);
  changed();
  return id;
}

void router::add_topic(subscriber_id who, std::string_view prefix) {
  std::lock_guard lock{mutex_};
  if (table_.add_local_topic(who, prefix))
    changed();
}

void router::remove_topic(subscriber_id who, std::string_view prefix) {
  std::lock_guard lock{mutex_};
  if (table_.remove_local_topic(who, prefix))
    changed();
}

void router::remove_subscriber(subscriber_id who) {
  std::lock_guard lock{mutex_};
  if (queues_.erase(who) == 0)
    return;
  table_.remove_local(who);
  changed();
}

filter router::subscriber_filter(subscriber_id who) const {
  std::lock_guard lock{mutex_};
  return table_.local_filter(who);
}

void router::add_peer(const endpoint_id& who, std::shared_ptr<link> via, filter wanted,
                      filter told) {
  std::lock_guard lock{mutex_};
  peers_[who] = {std::move(via), std::move(told)};
  table_.set_peer(who, std::move(wanted));
  changed();
}

void router::set_peer_filter(const endpoint_id& who, filter wanted) {
  std::lock_guard lock{mutex_};
  const auto* current = table_.peer_filter(who);
  if (current == nullptr || *current == wanted)
    return;
  table_.set_peer(who, std::move(wanted));
  changed();
}

void router::remove_peer(const endpoint_id& who) {
  std::lock_guard lock{mutex_};
  if (peers_.erase(who) == 0)
    return;
  table_.remove_peer(who);
  changed();
}

filter router::peer_filter(const endpoint_id& who) const {
  std::lock_guard lock{mutex_};
  const auto* found = table_.peer_filter(who);
  return found == nullptr ? filter{} : *found;
}

filter router::announcement_for(const endpoint_id& peer) const {
  std::lock_guard lock{mutex_};
  return table_.announcement_for(peer);
}

std::shared_ptr<const routing_snapshot> router::snapshot() const {
  std::lock_guard lock{mutex_};
  return snapshot_;
}

std::size_t router::count(std::string_view topic) const {
  const auto now = snapshot();
  return now->local_index.match(topic).size() + now->peer_index.match(topic).size();
}

bool router::wait_for(std::string_view topic, std::size_t n,
                      std::chrono::nanoseconds timeout) const {
  const auto until = deadline_after(timeout);
  std::unique_lock lock{mutex_};
  auto enough = [&] {
    return snapshot_->local_index.match(topic).size() + snapshot_->peer_index.match(topic).size() >=
           n;
  };
  auto done = [&] { return closed_ || enough(); };
  if (until)
    changed_.wait_until(lock, *until, done);
  else
    changed_.wait(lock, done);
  return enough();
}

void router::close() {
  std::lock_guard lock{mutex_};
  closed_ = true;
  for (auto& [id, queue] : queues_) {
    queue->finish();
    table_.remove_local(id);
  }
  queues_.clear();
  changed();
}

/// Called with the mutex held, after the table has changed.
void router::changed() {
  auto fresh = std::make_shared<routing_snapshot>();
  fresh->local_index = table_.local_index();
  fresh->peer_index = table_.peer_index();
  for (const auto& [id, queue] : queues_)
    fresh->queues.push_back(queue);
  for (const auto& [id, peer] : peers_) {
    fresh->links.push_back(peer.via);
    fresh->peers.push_back(id);
  }
  snapshot_ = std::move(fresh);
  version_.fetch_add(1, std::memory_order_release);
  announce();
  changed_.notify_all();
}

void router::announce() {
  for (auto& [id, peer] : peers_) {
    auto current = table_.announcement_for(id);
    if (current == peer.told)
      continue;
    peer.via->out().push_control(wire::make_routing_update(self_, id, current));
    peer.told = std::move(current);
  }
}

} // namespace pubsub
