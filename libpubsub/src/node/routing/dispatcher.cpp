// SPDX-License-Identifier: BSD-3-Clause
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
  to_broker_peers_ = open_.links && (broker().transit || !is_from_broker_peer());
  ++generation_;
  if (before && before->next_links != snapshot_->next_links)
    retire_routes(*before->next_links);
}

bool dispatcher::is_from_broker_peer() const {
  return std::ranges::any_of(broker().links,
                             [&](const auto& each) { return each.second.get() == open_.from; });
}

/// What is under way on a link that is closed is lost, and not waited for. The route to a node out
/// of reach stays noted: what is under way there arrives if the rest of that route still stands. A
/// client takes another relay in place of one that it publishes over no more; where it publishes
/// over one more, that may be the shorter way for all that follows, so all before has to arrive.
void dispatcher::retire_routes(const link_directory& before) {
  const auto& now = *snapshot_->next_links;
  const bool over_one_more =
      snapshot_->is_client &&
      std::ranges::any_of(now, [&](const auto& each) { return !before.contains(each.first); });
  std::erase_if(used_, [&](const auto& each) {
    const auto& [node, used] = each;
    if (used.via->closed())
      return true;
    const auto path = now.find(node);
    const bool out_of_reach = path == now.end();
    const bool taken_no_more = out_of_reach ? snapshot_->is_client : path->second != used.via;
    if (taken_no_more || over_one_more)
      add_to(retired_, node, used);
    return taken_no_more;
  });
}

void dispatcher::add_to(std::vector<retired_route>& all, const endpoint_id& node,
                        const used_route& used) {
  for (std::size_t hops = 0; hops < wire::max_hops; ++hops)
    if ((used.hops >> hops & 1) != 0)
      part_of(all, used.via, hops).nodes.push_back(node);
}

std::vector<retired_route> dispatcher::routes_taken() const {
  std::vector<retired_route> result;
  for (const auto& [node, used] : used_)
    if (!used.via->closed())
      add_to(result, node, used);
  return result;
}

/// Those of the route that was just found.
void dispatcher::note_routes(std::size_t hops) {
  for (std::size_t i = 0; i < nodes_->size(); ++i)
    for (const auto& to : (*nodes_)[i].nodes) {
      if (!snapshot_->next_links->contains(to.node))
        continue; // a client has one link
      const auto& via = found_.links[found_.broker_peers + i];
      auto& path = used_[to.node];
      if (path.via != via)
        path = {via, 0};
      path.hops = static_cast<std::uint16_t>(path.hops | 1U << std::min(hops, wire::max_hops - 1));
    }
}

const route& dispatcher::find(std::string_view topic, const deadline& until) {
  auto found = topics_.find(topic);
  if (found == topics_.end()) {
    found = topics_.emplace(std::string{topic}, cached{}).first;
    topics_bytes_ += topic.size();
  }
  auto& [to, version] = found->second;
  if (version != version_) {
    if (snapshot_->is_client)
      router_.ask_relays(topic, until);
    match_all(topic);
    to = remember(0);
    version = version_;
  }
  last_topic_ = found->first;
  last_ = to;
  return *last_;
}

/// Everything that wants the topic.
void dispatcher::match_all(std::string_view topic) {
  begin_match();
  found_.denied = !may_publish(access_, topic);
  if (found_.denied)
    return;
  match_wishes(topic);
  match_queues(topic, prefix_index<remote_target>::whenever);
  match_broker_peers(topic, prefix_index<remote_target>::whenever);
  match_relays(topic);
  match_clients(topic, prefix_index<remote_target>::whenever, true);
}

const route& dispatcher::resolve(std::string_view topic, std::span<const destination> destinations,
                                 std::size_t hops) {
  begin_match();
  found_.denied = !may_publish(access_, topic);
  if (found_.denied)
    destinations = {};
  match_wishes(topic);
  for (const auto& to : destinations) {
    const bool for_client = to.node == self_ && !to.client.is_nil();
    if (for_client || to.node != self_) {
      const bool found = for_client ? add_client(topic, {to.client, to.filter_number, {}},
                                                 link_of_client(to.client))
                                    : add_node(topic, to);
      found_.unreachable += open_.links && found ? 0 : 1;
      continue;
    }
    match_queues(topic, to.filter_number);
    if (to.filter_number != destination::addressed) {
      match_broker_peers(topic, to.filter_number);
      match_clients(topic, to.filter_number, false);
    }
    found_.unwanted_here = found_.queues.empty() && found_.broker_peers == 0 && clients_.empty();
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
  found_.left_out = {};
  found_.wishes.clear();
  found_.selection.reset();
  wishes_of_nodes_.clear();
  wishes_.clear();
  clients_.clear();
  nodes_->clear();
}

/// Our subscribers, as far as our subscriptions with that number go.
void dispatcher::match_queues(std::string_view topic, std::uint64_t filter_number) {
  if (!open_.queues)
    return;
  snapshot_->queues.match(topic, queue_matches_, filter_number);
  for (const auto* each : queue_matches_)
    if (each->exit.get() != open_.except)
      found_.queues.push_back(each->exit);
}

/// The same for the Broker peers whose designated relay we are. One is found twice if nodes report
/// one with its id: a link that stands twice in a route would take the room from its own run, and
/// the publisher would try for ever.
void dispatcher::match_broker_peers(std::string_view topic, std::uint64_t filter_number) {
  const auto& links = broker().links;
  if (!to_broker_peers_ || links.empty())
    return;
  snapshot_->remote.match(topic, matches_, filter_number);
  for (const auto* each : matches_)
    if (const auto peer = links.find(each->exit.node);
        peer != links.end() && peer->second.get() != open_.from &&
        !broker().is_closed(peer->first, topic) &&
        std::ranges::count(std::span{found_.links}.first(found_.broker_peers), peer->second) == 0 &&
        may_go(topic, *peer->second))
      found_.links.insert(found_.links.begin() + static_cast<std::ptrdiff_t>(found_.broker_peers++),
                          peer->second);
}

/// For a client: the relays that serve it.
void dispatcher::match_relays(std::string_view topic) {
  if (!open_.links || !snapshot_->is_client)
    return;
  for (const auto& [relay, via] : *snapshot_->next_links) {
    if (!router_.may_be_wanted_by(relay, topic))
      continue;
    if (auto wish = router_.wish_of(relay, topic); !wish.everything)
      wishes_of_nodes_[relay] = std::move(wish);
    else if (!wishes_of_nodes_.empty())
      wishes_of_nodes_.erase(relay);
    add_over(topic, {relay, 0, {}}, via);
  }
}

/// Our clients, as far as their subscriptions with that number of ours go; and nodes of the
/// network. What nodes report of one that has the id of a client or Broker peer is not so: it would
/// stand twice among the destinations, and who reads that takes it for nonsense.
void dispatcher::match_clients(std::string_view topic, std::uint64_t filter_number,
                               bool and_nodes) {
  and_nodes = and_nodes && !snapshot_->next_links->empty();
  if (!open_.links || (snapshot_->clients.empty() && !and_nodes))
    return;
  match_later_reports(topic, filter_number);
  const auto add = [&](const endpoint_id& id) {
    if (broker().links.contains(id))
      return;
    const auto* const client = find_client(id);
    if (client == nullptr) {
      if (and_nodes)
        add_node(topic, {id, this->filter_number(id), {}});
      return;
    }
    const auto later = later_reports_.find(id);
    if (later == later_reports_.end())
      add_client(topic, {id, client->since, {}}, client->exit);
    else if (later->second.wanted_before)
      add_client(topic, {id, later->second.number - 1, {}}, client->exit);
  };
  snapshot_->remote.match(topic, matches_, filter_number);
  clients_.reserve(matches_.size());
  for (const auto* each : matches_)
    add(each->exit.node);
  snapshot_->selective.match(topic, selective_matches_, filter_number);
  if (selective_matches_.empty())
    return;
  std::set<endpoint_id> added;
  for (const auto* each : matches_)
    added.insert(each->exit.node);
  for (const auto* each : selective_matches_)
    if (added.insert(each->exit.node).second)
      add(each->exit.node);
}

/// A client may get a message because of one subscription while another to the topic is newer than
/// the message knows. The newer one does not count yet: were the older one given up, messages would
/// come no more until publishers know the newer one.
void dispatcher::match_later_reports(std::string_view topic, std::uint64_t filter_number) {
  later_reports_.clear();
  if (filter_number == prefix_index<remote_target>::whenever)
    return;
  const auto visit_all = [&](auto&& visit) {
    const auto each = [&](const auto& target) {
      visit(target.exit.node, target.exit.report, target.since);
      return true;
    };
    snapshot_->remote.visit(topic, each);
    snapshot_->selective.visit(topic, each);
  };
  visit_all([&](const endpoint_id& who, std::uint64_t report, std::uint64_t since) {
    if (since <= filter_number)
      return;
    const auto [at, fresh] = later_reports_.try_emplace(who, later_report{report});
    at->second.number = std::min(at->second.number, report);
  });
  if (later_reports_.empty())
    return;
  visit_all([&](const endpoint_id& who, std::uint64_t report, std::uint64_t since) {
    const auto later = later_reports_.find(who);
    if (later != later_reports_.end() && since <= filter_number)
      later->second.wanted_before = later->second.wanted_before || report < later->second.number;
  });
}

/// Of nodes and clients that have subscribed to the topic under conditions only.
void dispatcher::match_wishes(std::string_view topic) {
  if (!open_.links || snapshot_->selective.empty())
    return;
  snapshot_->selective.visit(topic, [&](const auto& found) {
    const selective_target& x = found.exit;
    auto& wish = wishes_of_nodes_.try_emplace(x.node, link_wish{.everything = false}).first->second;
    wish.everything = wish.everything || x.what == nullptr;
    wish.conditions.push_back(x.what);
    return true;
  });
  std::erase_if(wishes_of_nodes_, [](const auto& each) { return each.second.everything; });
  if (!wishes_of_nodes_.empty())
    snapshot_->remote.visit(topic, [&](const auto& found) {
      wishes_of_nodes_.erase(found.exit.node);
      return true;
    });
}

/// The link leads to this destination, too.
void dispatcher::note_wish(const peer_link& via, const destination& to) {
  if (wishes_of_nodes_.empty())
    return;
  auto& wish = wishes_.try_emplace(&via, link_wish{.everything = false}).first->second;
  const auto its = wishes_of_nodes_.find(to.node);
  if (its == wishes_of_nodes_.end() || to.filter_number == destination::addressed)
    wish.everything = true;
  else
    wish.conditions.insert(wish.conditions.end(), its->second.conditions.begin(),
                           its->second.conditions.end());
}

/// The links of the route are known, in their order.
void dispatcher::choose_among_links() {
  if (std::ranges::all_of(wishes_, [](const auto& each) { return each.second.everything; }))
    return;
  for (const auto& via : found_.links) {
    auto& wish = found_.wishes.emplace_back();
    const auto its = wishes_.find(via.get());
    if (its == wishes_.end() || its->second.everything)
      continue;
    wish = std::move(its->second);
    auto& all = wish.conditions;
    std::ranges::sort(all);
    // Not std::ranges::unique: clang before 16 cannot compile libstdc++'s subrange.
    all.erase(std::unique(all.begin(), all.end()), all.end());
  }
}

std::uint64_t dispatcher::filter_number(const endpoint_id& node) const {
  std::uint64_t result = 0;
  snapshot_->filter_numbers.visit(id_text(node), [&](const auto& found) {
    result = found.exit;
    return false;
  });
  return result;
}

/// Its link since the last report of its filter; null if it is no client of ours.
const client_directory::link_index::target* dispatcher::find_client(const endpoint_id& id) const {
  const client_directory::link_index::target* result = nullptr;
  if (!snapshot_->clients.empty())
    snapshot_->clients.visit(id_text(id), [&](const auto& found) {
      result = &found;
      return false;
    });
  return result;
}

/// Whether the peer may receive messages on this topic; counts it where not.
bool dispatcher::may_go(std::string_view topic, const peer_link& to) {
  const bool may = may_receive(to.access(), topic);
  found_.left_out.denied += may ? 0 : 1;
  return may;
}

/// A node within reach, or a Broker peer that is addressed, becomes a destination of the link that
/// leads to it, if the peer there may receive the message. False if no link does.
bool dispatcher::add_node(std::string_view topic, const destination& to) {
  const auto& peers = broker().links;
  const bool addressed = to.filter_number == destination::addressed;
  if (addressed && add_client(topic, to, link_of_client(to.node)))
    return true;
  const bool to_peer = addressed && peers.contains(to.node);
  const auto& links = to_peer ? peers : *snapshot_->next_links;
  const auto path = links.find(to.node);
  if (path == links.end())
    return addressed && add_located(topic, to);
  if (to_peer && path->second.get() == open_.from)
    return false;
  return add_over(topic, to, path->second);
}

/// One of our clients becomes a destination. False if it is none, or the message is from there.
bool dispatcher::add_client(std::string_view topic, const destination& to,
                            std::shared_ptr<peer_link> via) {
  if (!via || via.get() == open_.from)
    return false;
  if (!may_go(topic, *via))
    return true;
  note_wish(*via, to);
  clients_.emplace_back(std::move(via), to);
  return true;
}

/// What is addressed to a client of another relay goes to that one; a client leaves what it does
/// not know to its relay.
bool dispatcher::add_located(std::string_view topic, const destination& to) {
  const auto [relay, neighbour] = router_.find_client(to.node);
  const auto& links = *snapshot_->next_links;
  const auto path = links.find(snapshot_->is_client ? neighbour : relay);
  if (path == links.end() || path->second.get() == open_.from)
    return false;
  return add_over(topic, relay.is_nil() ? to : destination{relay, to.filter_number, to.node},
                  path->second);
}

bool dispatcher::add_over(std::string_view topic, const destination& to,
                          const std::shared_ptr<peer_link>& via) {
  if (!may_go(topic, *via))
    return true;
  auto there = std::ranges::find(*nodes_, via.get(), &link_destinations::via);
  if (there == nodes_->end()) {
    found_.links.push_back(via);
    there = nodes_->insert(there, {via.get(), {}});
  }
  there->nodes.push_back(to);
  note_wish(*via, to);
  return true;
}

/// The route of what was just found: one that other topics take as well, or a new one.
const route* dispatcher::remember(std::size_t hops) {
  nodes_->reserve(nodes_->size() + clients_.size());
  found_.links.reserve(found_.links.size() + clients_.size());
  for (auto& [via, to] : clients_) {
    nodes_->push_back({via.get(), {to}});
    found_.links.push_back(std::move(via));
  }
  const auto by_link = [](const auto& x, const auto& y) {
    return std::less<const void*>{}(x.get(), y.get());
  };
  std::sort(found_.links.begin() + static_cast<std::ptrdiff_t>(found_.broker_peers),
            found_.links.end(), by_link);
  std::ranges::sort(*nodes_, std::less<const void*>{}, &link_destinations::via);
  found_.exits.reserve(found_.queues.size() + found_.links.size());
  for (const auto& each : found_.queues)
    found_.exits.push_back(each.get());
  for (const auto& each : found_.links)
    found_.exits.push_back(&each->out(hops));
  found_.nodes = nodes_;
  choose_among_links();
  if (const auto same = routes_.find(found_); same != routes_.end()) {
    begin_match(); // holds no queue that is closed later
    return &*same;
  }
  note_routes(hops);
  if (!found_.wishes.empty())
    found_.selection = std::make_shared<route_selection>(found_.wishes);
  nodes_ = std::make_shared<destinations_by_link>();
  return &*routes_.insert(std::move(found_)).first;
}

} // namespace pubsub
