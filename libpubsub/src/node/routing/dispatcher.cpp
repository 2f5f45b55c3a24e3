#include "node/routing/dispatcher.hpp"

#include <algorithm>

namespace pubsub {

void dispatcher::reset(std::uint64_t version) {
  last_ = nullptr;
  if (holds_too_much()) {
    topics_.clear();
    topics_bytes_ = 0;
  }
  routes_.clear();
  access_ = open_.from != nullptr ? open_.from->access() : nullptr;
  const auto before = std::exchange(snapshot_, router_.snapshot());
  version_ = version;
  ++generation_;
  if (before && before->next_links != snapshot_->next_links)
    retire_routes();
}

/// What is under way on a link that is closed is lost, and not waited for. The route to a node out
/// of reach stays noted: what is under way there arrives if the rest of that route still stands.
void dispatcher::retire_routes() {
  std::erase_if(used_, [&](const auto& each) {
    const auto& [node, used] = each;
    if (used.via->closed())
      return true;
    const auto path = snapshot_->next_links->find(node);
    if (path == snapshot_->next_links->end() || path->second == used.via)
      return false;
    for (std::size_t hops = 0; hops < wire::max_hops; ++hops)
      if ((used.hops >> hops & 1) != 0)
        part_of(retired_, used.via, hops).nodes.push_back(node);
    return true;
  });
}

/// Those of the route that was just found.
void dispatcher::note_routes(std::size_t hops) {
  for (std::size_t i = 0; i < nodes_->size(); ++i)
    for (const auto& to : (*nodes_)[i].nodes) {
      const auto& via = found_.links[found_.broker_peers + i];
      auto& path = used_[to.node];
      if (path.via != via)
        path = {via, 0};
      path.hops = static_cast<std::uint16_t>(path.hops | 1U << std::min(hops, wire::max_hops - 1));
    }
}

const route& dispatcher::find(std::string_view topic) {
  auto found = topics_.find(topic);
  if (found == topics_.end()) {
    found = topics_.emplace(std::string{topic}, cached{}).first;
    topics_bytes_ += topic.size();
  }
  auto& [to, version] = found->second;
  if (version != version_) {
    begin_match();
    found_.denied = !may_publish(access_, topic);
    if (!found_.denied) {
      match_queues(topic, prefix_index<endpoint_id>::whenever);
      match_broker_peers(topic, prefix_index<endpoint_id>::whenever);
      if (open_.links)
        match_nodes(topic);
    }
    to = remember(0);
    version = version_;
  }
  last_topic_ = found->first;
  last_ = to;
  return *last_;
}

const route& dispatcher::resolve(std::string_view topic, std::span<const destination> destinations,
                                 std::size_t hops) {
  begin_match();
  found_.denied = !may_publish(access_, topic);
  if (found_.denied)
    destinations = {};
  for (const auto& to : destinations) {
    if (to.node != self_) {
      found_.unreachable += open_.links && add_node(topic, to) ? 0 : 1;
      continue;
    }
    match_queues(topic, to.filter_number);
    if (to.filter_number != destination::addressed)
      match_broker_peers(topic, to.filter_number);
    found_.unwanted_here = found_.queues.empty() && found_.broker_peers == 0;
  }
  return *remember(hops);
}

void dispatcher::begin_match() noexcept {
  found_.queues.clear();
  found_.links.clear();
  found_.broker_peers = 0;
  found_.exits.clear();
  found_.unreachable = 0;
  found_.unwanted_here = false;
  found_.denied = false;
  found_.denied_peers = 0;
  nodes_->clear();
}

/// Our subscribers, as far as our subscriptions with that number go.
void dispatcher::match_queues(std::string_view topic, std::uint64_t filter_number) {
  if (!open_.queues)
    return;
  snapshot_->queues.match(topic, queue_matches_, filter_number);
  for (const auto* each : queue_matches_)
    found_.queues.push_back(each->exit);
}

/// The same for the Broker peers whose designated relay we are. One is found twice if nodes report
/// one with its id: a link that stands twice in a route would take the room from its own run, and
/// the publisher would try for ever.
void dispatcher::match_broker_peers(std::string_view topic, std::uint64_t filter_number) {
  const auto& links = broker().links;
  if (!open_.links || links.empty())
    return;
  snapshot_->remote.match(topic, matches_, filter_number);
  for (const auto* each : matches_)
    if (const auto peer = links.find(each->exit);
        peer != links.end() && peer->second.get() != open_.from &&
        !broker().is_closed(peer->first, topic) &&
        std::ranges::count(std::span{found_.links}.first(found_.broker_peers), peer->second) == 0 &&
        may_go(topic, *peer->second))
      found_.links.insert(found_.links.begin() + static_cast<std::ptrdiff_t>(found_.broker_peers++),
                          peer->second);
}

/// What nodes report of one that has the id of a Broker peer is not so: it would stand twice among
/// the destinations, and who reads that takes it for nonsense.
void dispatcher::match_nodes(std::string_view topic) {
  if (snapshot_->next_links->empty())
    return;
  snapshot_->remote.match(topic, matches_);
  for (const auto* each : matches_)
    if (!broker().links.contains(each->exit))
      add_node(topic, {each->exit, filter_number(each->exit)});
}

std::uint64_t dispatcher::filter_number(const endpoint_id& node) const {
  std::uint64_t result = 0;
  snapshot_->filter_numbers.visit(id_text(node), [&](const auto& found) {
    result = found.exit;
    return false;
  });
  return result;
}

/// Whether the peer may receive messages on this topic; counts it where not.
bool dispatcher::may_go(std::string_view topic, const peer_link& to) {
  const bool may = may_receive(to.access(), topic);
  found_.denied_peers += may ? 0 : 1;
  return may;
}

/// A node within reach, or a Broker peer that is addressed, becomes a destination of the link that
/// leads to it, if the peer there may receive the message. False if no link does.
bool dispatcher::add_node(std::string_view topic, const destination& to) {
  const auto& peers = broker().links;
  const bool to_peer = to.filter_number == destination::addressed && peers.contains(to.node);
  const auto& links = to_peer ? peers : *snapshot_->next_links;
  const auto path = links.find(to.node);
  if (path == links.end() || (to_peer && path->second.get() == open_.from))
    return false;
  if (!may_go(topic, *path->second))
    return true;
  const auto& via = path->second;
  auto there = std::ranges::find(*nodes_, via.get(), &link_destinations::via);
  if (there == nodes_->end()) {
    found_.links.push_back(via);
    there = nodes_->insert(there, {via.get(), {}});
  }
  there->nodes.push_back(to);
  return true;
}

/// The route of what was just found: one that other topics take as well, or a new one.
const route* dispatcher::remember(std::size_t hops) {
  for (const auto& each : found_.queues)
    found_.exits.push_back(each.get());
  for (const auto& each : found_.links)
    found_.exits.push_back(&each->out(hops));
  found_.nodes = nodes_;
  if (const auto same = routes_.find(found_); same != routes_.end()) {
    begin_match(); // holds no queue that is closed later
    return &*same;
  }
  note_routes(hops);
  nodes_ = std::make_shared<destinations_by_link>();
  return &*routes_.insert(std::move(found_)).first;
}

} // namespace pubsub
