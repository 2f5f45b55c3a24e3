#include "route/network_map.hpp"

#include <algorithm>

namespace pubsub {

network_map::network_map(const endpoint_id& self, std::uint64_t incarnation, bool relays)
    : self_(self) {
  auto& me = nodes_[self_];
  me.incarnation = incarnation;
  me.relays = relays;
  me.links_number = me.filter_number = me.newest_filter = 1;
}

// -- neighbours ----------------------------------------------------------------------------------

void network_map::add_neighbour(const endpoint_id& who) {
  neighbours_[who] = false;
  send_all(who);
}

void network_map::neighbour_ready(const endpoint_id& who) {
  const auto found = neighbours_.find(who);
  if (found == neighbours_.end() || std::exchange(found->second, true))
    return;
  change_links({who}, {});
}

void network_map::add_broker_peer(const endpoint_id& who) {
  if (broker_peers_.insert(who).second)
    change_links({who}, {});
}

void network_map::remove(const std::vector<endpoint_id>& all) {
  std::vector<endpoint_id> gone;
  for (const auto& who : all) {
    if (neighbours_.erase(who) + broker_peers_.erase(who) == 0)
      continue;
    for (auto& [id, at] : nodes_)
      at.announced.erase(who);
    if (nodes_[self_].links.contains(who))
      gone.push_back(who);
  }
  if (!gone.empty())
    change_links({}, gone);
}

void network_map::change_links(const std::vector<endpoint_id>& added,
                               const std::vector<endpoint_id>& removed) {
  auto& me = nodes_[self_];
  me.links.insert(added.begin(), added.end());
  for (const auto& each : removed)
    me.links.erase(each);
  ++me.links_number;
  ++links_version_;
  pass_on(std::make_shared<any_report>(neighbours_report{
              {self_, me.incarnation, me.links_number, false}, me.relays, added, removed}),
          {});
  catch_up_all();
}

/// Sends all reports, those of this node first. A node that does not forward reports only itself.
void network_map::send_all(const endpoint_id& to) {
  auto& me = nodes_[self_];
  send({to}, whole_links(self_, me));
  send({to}, whole_filter(self_, me));
  if (!me.relays)
    return;
  for (const auto& [id, at] : nodes_) {
    if (id == self_)
      continue;
    if (at.links_number > 0)
      send({to}, whole_links(id, at));
    if (at.filter_number > 0)
      send({to}, whole_filter(id, at));
  }
}

// -- our filter ----------------------------------------------------------------------------------

void network_map::change_filter(std::uint64_t number, std::vector<std::string> added,
                                std::vector<std::string> removed) {
  if (added.empty() && removed.empty())
    return;
  auto& me = nodes_[self_];
  for (const auto& each : removed)
    me.prefixes.erase(each);
  me.prefixes.insert(added.begin(), added.end());
  me.newest_filter = me.filter_number = number;
  pass_on(
      std::make_shared<any_report>(filter_report{
          {self_, me.incarnation, me.filter_number, false}, std::move(added), std::move(removed)}),
      {});
}

std::pair<std::uint64_t, std::uint64_t> network_map::filter_known(const endpoint_id& who) const {
  const auto found = nodes_.find(who);
  return found == nodes_.end() ? std::pair<std::uint64_t, std::uint64_t>{}
                               : std::pair{found->second.incarnation, found->second.filter_number};
}

// -- reports -------------------------------------------------------------------------------------

/// The node a report is about, empty if its incarnation is new. Null if the report is to be
/// ignored.
network_map::node* network_map::find_for_report(const report_header& about) {
  if (about.node == self_) {
    become_newer_than(about.incarnation);
    return nullptr;
  }
  if (!nodes_.contains(about.node) && nodes_.size() >= max_nodes)
    forget_unreachable();
  if (!nodes_.contains(about.node) && nodes_.size() >= max_nodes)
    return nullptr;
  auto& at = nodes_[about.node];
  if (about.incarnation < at.incarnation)
    return nullptr;
  if (about.incarnation > at.incarnation) {
    if (!at.prefixes.empty())
      filter_changes_.push_back({about.node, 0, {}, {at.prefixes.begin(), at.prefixes.end()}});
    if (at.incarnation > 0)
      restarted_.push_back(about.node);
    at = {};
    at.incarnation = about.incarnation;
    ++links_version_;
  }
  return &at;
}

/// Another node remembers an earlier incarnation of this one, whose clock was ahead.
void network_map::become_newer_than(std::uint64_t incarnation) {
  auto& me = nodes_[self_];
  if (incarnation <= me.incarnation)
    return;
  me.incarnation = incarnation + 1;
  pass_on(std::make_shared<any_report>(whole_links(self_, me)), {});
  pass_on(std::make_shared<any_report>(whole_filter(self_, me)), {});
}

bool network_map::receive(const endpoint_id& from, neighbours_report report) {
  if (!neighbours_.contains(from))
    return true; // the neighbour has been removed meanwhile
  const auto about = report.about;
  auto* const at = find_for_report(about);
  if (at == nullptr || about.number <= at->links_number)
    return true;
  if (!about.whole && at->links_number == 0)
    return true; // the map is full
  if (!about.whole && about.number != at->links_number + 1)
    return false;
  if (about.whole)
    at->links.clear();
  at->links.insert(report.added.begin(), report.added.end());
  for (const auto& each : report.removed)
    at->links.erase(each);
  at->links_number = about.number;
  at->relays = report.relays;
  ++links_version_;
  if (nodes_[self_].relays)
    pass_on(std::make_shared<any_report>(std::move(report)), from);
  catch_up_all();
  return true;
}

bool network_map::receive(const endpoint_id& from, filter_report report) {
  if (!neighbours_.contains(from))
    return true;
  const auto about = report.about;
  auto* const at = find_for_report(about);
  if (at == nullptr)
    return true;
  if (!about.whole && at->newest_filter == 0)
    return true;
  if (!about.whole && about.number > at->newest_filter + 1)
    return false;
  auto& announced = at->announced[from];
  announced = std::max(announced, about.number);
  if (about.number <= at->filter_number)
    return true;
  const bool next = about.whole || about.number == at->filter_number + 1;
  const auto shared = std::make_shared<const any_report>(std::move(report));
  if (next && is_next_hop(from, about.node)) {
    apply(about.node, *at, shared);
  } else if (about.number > at->newest_filter) {
    at->pending.push_back(shared);
    at->newest_filter = about.number;
    with_pending_.insert(about.node);
  }
  catch_up(about.node, *at);
  return true;
}

/// From now on the report counts.
void network_map::apply(const endpoint_id& id, node& at,
                        const std::shared_ptr<const any_report>& report) {
  const auto& news = std::get<filter_report>(*report);
  filter_change change{id, news.about.number, {}, {}};
  if (news.about.whole) {
    const std::set<std::string> now{news.added.begin(), news.added.end()};
    std::ranges::set_difference(at.prefixes, now, std::back_inserter(change.removed));
    std::ranges::set_difference(now, at.prefixes, std::back_inserter(change.added));
  } else {
    std::ranges::copy_if(news.added, std::back_inserter(change.added),
                         [&](const auto& each) { return !at.prefixes.contains(each); });
    std::ranges::copy_if(news.removed, std::back_inserter(change.removed),
                         [&](const auto& each) { return at.prefixes.contains(each); });
  }
  for (const auto& each : change.removed)
    at.prefixes.erase(each);
  at.prefixes.insert(change.added.begin(), change.added.end());
  at.filter_number = news.about.number;
  at.newest_filter = std::max(at.newest_filter, at.filter_number);
  if (!at.prefixes.empty() || !change.removed.empty()) // the number counts as well
    filter_changes_.push_back(std::move(change));
  if (!nodes_[self_].relays)
    return;
  std::vector<endpoint_id> to;
  for (const auto& [neighbour, ready] : neighbours_)
    if (const auto announced = at.announced.find(neighbour);
        announced == at.announced.end() || announced->second < at.filter_number)
      to.push_back(neighbour);
  if (!to.empty())
    messages_.push_back({std::move(to), report});
}

/// Applies the pending reports that the next hop has made, too.
void network_map::catch_up(const endpoint_id& id, node& at) {
  if (at.pending.empty())
    return;
  while (!at.pending.empty()) {
    const auto first = at.pending.front();
    const auto number = std::get<filter_report>(*first).about.number;
    if (number > at.filter_number) {
      const bool announced_by_next_hop = std::ranges::any_of(at.announced, [&](const auto& each) {
        return each.second >= number && is_next_hop(each.first, id);
      });
      if (!announced_by_next_hop)
        return;
      apply(id, at, first);
    }
    at.pending.pop_front();
  }
  with_pending_.erase(id);
}

/// While no neighbour is ready no node is within reach: a node that joins a large network does not
/// look at everything again with each of the first reports.
void network_map::catch_up_all() {
  if (std::ranges::none_of(neighbours_, &std::pair<const endpoint_id, bool>::second))
    return;
  for (const auto& id : std::set{with_pending_})
    catch_up(id, nodes_.at(id));
}

void network_map::pass_on(std::shared_ptr<const any_report> what, const endpoint_id& except) {
  std::vector<endpoint_id> to;
  for (const auto& [neighbour, ready] : neighbours_)
    if (neighbour != except)
      to.push_back(neighbour);
  if (!to.empty())
    messages_.push_back({std::move(to), std::move(what)});
}

void network_map::send(std::vector<endpoint_id> to, any_report what) {
  messages_.push_back({std::move(to), std::make_shared<const any_report>(std::move(what))});
}

network_map::any_report network_map::whole_links(const endpoint_id& id, const node& at) const {
  return neighbours_report{{id, at.incarnation, at.links_number, true},
                           at.relays,
                           {at.links.begin(), at.links.end()},
                           {}};
}

network_map::any_report network_map::whole_filter(const endpoint_id& id, const node& at) const {
  return filter_report{
      {id, at.incarnation, at.filter_number, true}, {at.prefixes.begin(), at.prefixes.end()}, {}};
}

// -- routes --------------------------------------------------------------------------------------

/// A link between two other nodes counts only if both have reported it.
void network_map::visit_neighbours(const endpoint_id& from,
                                   const std::function<void(const endpoint_id&)>& visit) const {
  if (from == self_) {
    for (const auto& [neighbour, ready] : neighbours_)
      if (ready)
        visit(neighbour);
    return;
  }
  const auto here = nodes_.find(from);
  if (here == nodes_.end() || !here->second.relays)
    return;
  for (const auto& next : here->second.links)
    if (const auto there = nodes_.find(next);
        there != nodes_.end() && there->second.links.contains(from))
      visit(next);
}

const next_hop_map& network_map::next_hops() const {
  if (next_hops_version_ != links_version_) {
    next_hops_ = shortest_paths(
        self_, [this](const auto& from, const auto& visit) { visit_neighbours(from, visit); });
    next_hops_version_ = links_version_;
  }
  return next_hops_;
}

/// The short cuts are for hubs with many neighbours and for the many neighbours of a hub.
bool network_map::is_next_hop(const endpoint_id& neighbour, const endpoint_id& to) const {
  const auto direct = neighbours_.find(to);
  if (direct != neighbours_.end() && direct->second)
    return to == neighbour;
  const auto only = neighbours_.begin();
  if (neighbours_.size() == 1)
    return only->second && only->first == neighbour;
  const auto& hops = next_hops();
  const auto found = hops.find(to);
  return found != hops.end() && found->second == neighbour;
}

std::unordered_set<endpoint_id> network_map::all_broker_peers() const {
  std::unordered_set<endpoint_id> result;
  const auto& hops = next_hops();
  for (const auto& [id, at] : nodes_) {
    if (id != self_ && !hops.contains(id))
      continue;
    for (const auto& other : at.links)
      if (const auto there = nodes_.find(other);
          there == nodes_.end() || there->second.links_number == 0)
        result.insert(other);
  }
  return result;
}

bool network_map::is_designated_for(const endpoint_id& broker_peer) const {
  if (!broker_peers_.contains(broker_peer))
    return false;
  const auto& hops = next_hops();
  return std::ranges::none_of(nodes_, [&](const auto& each) {
    return each.first < self_ && each.second.links.contains(broker_peer) &&
           hops.contains(each.first);
  });
}

void network_map::forget_unreachable() {
  const auto& hops = next_hops();
  std::erase_if(nodes_, [&](auto& each) {
    auto& [id, at] = each;
    if (id == self_ || neighbours_.contains(id) || hops.contains(id))
      return false;
    if (!at.prefixes.empty())
      filter_changes_.push_back({id, 0, {}, {at.prefixes.begin(), at.prefixes.end()}});
    with_pending_.erase(id);
    return true;
  });
}

} // namespace pubsub
