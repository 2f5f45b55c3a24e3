#include "endpoint/router.hpp"

#include "wire/envelope.hpp"

namespace pubsub {

router::router(const endpoint_id& self, filter forward_topics, bool forwarding)
    : self_(self), table_(std::move(forward_topics), forwarding),
      directory_(std::make_shared<routing_snapshot::directory>()) {}

template <class Update>
void router::change(Update&& update) {
  std::lock_guard turn{turn_};
  std::set<endpoint_id> outdated;
  {
    std::lock_guard lock{mutex_};
    snapshot_.reset(); // what no reader holds is changed in place
    if (!update())
      return;
    outdated = table_.take_outdated();
    version_.fetch_add(1, std::memory_order_release);
  }
  changed_.notify_all();
  announce(outdated);
}

subscriber_id router::add_subscriber(std::shared_ptr<message_queue> queue, const filter& wanted) {
  subscriber_id id = 0;
  change([&] {
    id = ++last_id_;
    if (closed_)
      queue->finish();
    else
      table_.add_local(id, std::move(queue), wanted);
    return !closed_;
  });
  return id;
}

void router::add_topic(subscriber_id who, std::string_view prefix) {
  change([&] { return table_.add_local_topic(who, prefix); });
}

void router::remove_topic(subscriber_id who, std::string_view prefix) {
  change([&] { return table_.remove_local_topic(who, prefix); });
}

void router::remove_subscriber(subscriber_id who) {
  change([&] { return table_.remove_local(who); });
}

filter router::subscriber_filter(subscriber_id who) const {
  std::lock_guard turn{turn_};
  return table_.local_filter(who);
}

void router::add_peer(const endpoint_id& who, std::shared_ptr<link> via, filter wanted,
                      filter told) {
  change([&] {
    peers_[who] = {via, std::move(told)};
    list_peers();
    table_.add_peer(who, std::move(via), std::move(wanted));
    return true;
  });
}

void router::set_peer_filter(const endpoint_id& who, filter wanted) {
  change([&] { return table_.set_peer_filter(who, std::move(wanted)); });
}

void router::remove_peer(const endpoint_id& who) {
  change([&] {
    if (!table_.remove_peer(who))
      return false;
    peers_.erase(who);
    list_peers();
    return true;
  });
}

filter router::peer_filter(const endpoint_id& who) const {
  std::lock_guard turn{turn_};
  const auto* found = table_.peer_filter(who);
  return found == nullptr ? filter{} : *found;
}

filter router::announcement_for(const endpoint_id& peer) const {
  std::lock_guard turn{turn_};
  return table_.announcement_for(peer);
}

std::shared_ptr<const routing_snapshot> router::snapshot() const {
  std::lock_guard lock{mutex_};
  if (!snapshot_)
    snapshot_ = std::make_shared<const routing_snapshot>(
        routing_snapshot{table_.local_index(), table_.peer_index(), directory_});
  return snapshot_;
}

std::size_t router::count(std::string_view topic) const {
  const auto now = snapshot();
  return now->queues.count(topic) + now->links.count(topic);
}

bool router::wait_for(std::string_view topic, std::size_t n,
                      std::chrono::nanoseconds timeout) const {
  const auto until = deadline_after(timeout);
  std::unique_lock lock{mutex_};
  auto enough = [&] {
    return table_.local_index().count(topic) + table_.peer_index().count(topic) >= n;
  };
  auto done = [&] { return closed_ || enough(); };
  if (until)
    changed_.wait_until(lock, *until, done);
  else
    changed_.wait(lock, done);
  return enough();
}

void router::close() {
  change([&] {
    closed_ = true;
    std::vector<subscriber_id> all;
    table_.visit_locals([&](subscriber_id who, const auto& queue) {
      queue->finish();
      all.push_back(who);
    });
    for (const auto who : all)
      table_.remove_local(who);
    return true;
  });
}

void router::list_peers() {
  auto fresh = std::make_shared<routing_snapshot::directory>();
  for (const auto& [id, peer] : peers_)
    fresh->emplace(id, peer.via);
  directory_ = std::move(fresh);
}

/// Only turn_ is held: publishers go on meanwhile.
void router::announce(const std::set<endpoint_id>& outdated) {
  for (const auto& id : outdated) {
    auto& peer = peers_.at(id);
    auto current = table_.announcement_for(id);
    if (current == peer.told)
      continue;
    peer.via->out().push_control(wire::make_routing_update(self_, id, current));
    peer.told = std::move(current);
  }
}

} // namespace pubsub
