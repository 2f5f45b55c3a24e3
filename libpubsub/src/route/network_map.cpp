// SPDX-License-Identifier: BSD-3-Clause
#include "route/network_map.hpp"

#include <algorithm>
#include <functional>
#include <iterator>

namespace pubsub {

network_map::network_map(const endpoint_id& self, std::uint64_t incarnation, std::string name)
    : self_(self), paths_(self) {
  auto& me = nodes_[self_];
  me.incarnation = incarnation;
  me.relays = true;
  me.name = std::move(name);
  me.links_number = me.filter_number = 1;
}

// -- neighbours ----------------------------------------------------------------------------------

void network_map::add_neighbour(const endpoint_id& who) {
  neighbours_[who] = {};
  paths_.remove_link(self_, who);
  send_all(who);
}

void network_map::neighbour_ready(const endpoint_id& who, time now) {
  const auto found = neighbours_.find(who);
  if (found == neighbours_.end() || std::exchange(found->second.ready, true))
    return;
  paths_.add_link(self_, who);
  paths_.set_relays(who, relays(who));
  if (const auto at = nodes_.find(who); at != nodes_.end() && !at->second.links.contains(self_))
    awaited_[who] = now;
  add_own_link(who);
}

void network_map::add_host(const endpoint_id& who) {
  if (hosts_.insert(who).second)
    messages_.push_back({{who}, nodes_[self_].whole_filter(self_)});
}

void network_map::leave_host(const endpoint_id& who) {
  const auto& me = nodes_[self_];
  if (hosts_.erase(who) > 0)
    messages_.push_back({{who},
                         std::make_shared<any_report>(filter_report{
                             {self_, me.incarnation, me.filter_number, true}, {}, {}})});
}

void network_map::add_broker_peer(const endpoint_id& who) {
  if (broker_peers_.insert(who).second)
    add_own_link(who);
}

void network_map::remove(const std::vector<endpoint_id>& all) {
  std::vector<endpoint_id> gone;
  for (const auto& who : all) {
    if (neighbours_.erase(who) + broker_peers_.erase(who) == 0)
      continue;
    awaited_.erase(who);
    paths_.remove_link(self_, who);
    for (auto& [id, at] : nodes_)
      shares_.remove(who, at.heard.remove(who));
    std::erase_if(waiting_, [&](const auto& each) { return each.second == who; });
    if (nodes_[self_].links.erase(who) == 0)
      continue;
    ++links_version_;
    if (new_links_.erase(who) == 0)
      gone.push_back(who);
  }
  if (!gone.empty())
    report_links({}, std::move(gone));
  look_again_at_all();
}

void network_map::add_own_link(const endpoint_id& to) {
  nodes_[self_].links.insert(to);
  new_links_.insert(to);
  ++links_version_;
  look_again_at_all();
}

void network_map::report_links() {
  const auto fresh = std::exchange(new_links_, {});
  report_links({fresh.begin(), fresh.end()}, {});
}

void network_map::stop_relaying() {
  nodes_[self_].relays = false;
  report_links();
}

void network_map::report_links(std::vector<endpoint_id> added, std::vector<endpoint_id> removed) {
  auto& me = nodes_[self_];
  ++me.links_number;
  pass_on(std::make_shared<any_report>(
      neighbours_report{{self_, me.incarnation, me.links_number, false},
                        me.relays,
                        std::move(added),
                        std::move(removed),
                        {}}));
}

/// All links of this node but those that are not reported yet: none is told of them, or would have
/// to be told when they go.
shared_report network_map::reported_links() const {
  const auto& me = nodes_.at(self_);
  neighbours_report result{
      {self_, me.incarnation, me.links_number, true}, me.relays, {}, {}, me.name};
  std::ranges::copy_if(me.links, std::back_inserter(result.added),
                       [&](const auto& each) { return !new_links_.contains(each); });
  return std::make_shared<any_report>(std::move(result));
}

/// Sends all reports, those of this node first.
void network_map::send_all(const endpoint_id& to) {
  auto& me = nodes_[self_];
  messages_.push_back({{to}, reported_links()});
  messages_.push_back({{to}, me.whole_filter(self_)});
  for (const auto& [id, at] : nodes_) {
    if (id == self_ || !me.relays)
      continue;
    if (at.links_number > 0)
      messages_.push_back({{to}, at.whole_links(id)});
    if (at.filter_number > 0)
      messages_.push_back({{to}, at.whole_filter(id)});
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
  me.filter_number = number;
  const auto news = std::make_shared<any_report>(filter_report{
      {self_, me.incarnation, me.filter_number, false}, std::move(added), std::move(removed)});
  if (!hosts_.empty())
    messages_.push_back({{hosts_.begin(), hosts_.end()}, news});
  pass_on(news);
}

report_version network_map::filter_known(const endpoint_id& who) const {
  if (const auto found = nodes_.find(who); found != nodes_.end())
    return {found->second.incarnation, found->second.filter_number};
  return {};
}

// -- reports -------------------------------------------------------------------------------------

/// The node a report is about; null if the map is full.
known_node* network_map::place_for(const endpoint_id& id) {
  if (!nodes_.contains(id) && nodes_.size() >= max_nodes)
    forget_unreachable(0);
  return nodes_.contains(id) || nodes_.size() < max_nodes ? &nodes_[id] : nullptr;
}

/// Others remember reports of this node that it has not made: those of an earlier incarnation whose
/// clock was ahead, or those that a peer has made in its name.
void network_map::become_newer_than(const any_report& claim) {
  auto& me = nodes_[self_];
  if (version_of(claim) <= me.counted(claim))
    return;
  me.incarnation = std::min(header_of(claim).incarnation + 1, max_number);
  pass_on(reported_links());
  pass_on(me.whole_filter(self_));
}

bool network_map::receive(const endpoint_id& from, any_report report) {
  const auto found = neighbours_.find(from);
  if (found == neighbours_.end())
    return true; // the neighbour has been removed meanwhile
  const auto id = header_of(report).node;
  if (id == self_) {
    become_newer_than(report);
    return true;
  }
  if (id != from && nodes_.contains(from) && !nodes_.at(from).relays)
    return false;
  auto* const at = place_for(id);
  if (at == nullptr)
    return true;
  if (at->items_with(report) > max_items)
    return false;
  const auto bytes = bytes_of(report);
  const auto news = at->heard.add(from, std::move(report), at->counted(report));
  if (news == heard_reports::news::waits) {
    shares_.add(from, bytes);
    waiting_.insert({id, from});
    catch_up(id, *at, from);
  }
  if (id == from && at->links.contains(self_))
    found->second.reports_link = true;
  if (news != heard_reports::news::waits)
    return news == heard_reports::news::old;
  if (!touched_.empty())
    look_again_at(std::exchange(touched_, {}));
  if (shares_.bytes() > forget_at_) {
    forget_unreachable(forget_at_ / 2);
    if (shares_.bytes() > forget_at_ / 2)
      forget_at_ = std::min(2 * forget_at_, report_shares::max_bytes);
  }
  return shares_.fit() || !shares_.is_largest(from);
}

/// A node is believed about itself, the next hop about those behind it, and every neighbour about
/// the links of nodes that are out of reach. Of a node two hops away, the neighbours it is linked
/// with are believed, so that paths need not be computed with every report of a dense network. A
/// neighbour speaks for itself alone once it has reported its link with this node: what it sent
/// before may come over others, and the report of its link with them sooner from them.
bool network_map::may_report(const endpoint_id& from, const endpoint_id& id, const known_node& at,
                             const any_report& report) const {
  if (std::holds_alternative<filter_report>(report))
    return is_next_hop(from, id);
  const auto neighbour = neighbours_.find(id);
  const bool is_neighbour = neighbour != neighbours_.end();
  if (from == id || (is_neighbour && neighbour->second.reports_link))
    return from == id;
  if (at.links_number == 0 || joins_us_with(from, id))
    return true;
  if (std::ranges::any_of(neighbours_,
                          [&](const auto& each) { return joins_us_with(each.first, id); }))
    return false;
  return (is_neighbour && neighbour->second.ready) || is_next_hop(from, id) ||
         !next_hops().contains(id);
}

/// Whether a neighbour over which routes lead is linked with the node.
bool network_map::joins_us_with(const endpoint_id& neighbour, const endpoint_id& id) const {
  const auto found = neighbours_.find(neighbour);
  if (found == neighbours_.end() || !found->second.ready)
    return false;
  const auto between = nodes_.find(neighbour);
  return between != nodes_.end() && between->second.relays && between->second.links.contains(id) &&
         nodes_.at(id).links.contains(neighbour);
}

/// Lets reports that wait count, if they may.
void network_map::catch_up(const endpoint_id& id, known_node& at, const endpoint_id& from) {
  const bool left = at.heard.take(from, [&](const shared_report& report) {
    if (version_of(*report) > at.counted(*report)) {
      if (!may_report(from, id, at, *report))
        return false;
      apply(id, at, from, report);
    }
    shares_.remove(from, bytes_of(*report));
    return true;
  });
  if (!left)
    waiting_.erase({id, from});
}

/// The links of the node are about to change, or to be void if there is no news: notes of which
/// nodes another neighbour may speak then.
void network_map::touch(const endpoint_id& id, const known_node& at,
                        const neighbours_report* news) {
  touched_.push_back(id);
  if (!neighbours_.contains(id))
    return;
  if (news != nullptr)
    for (const auto* some : {&news->added, &news->removed})
      touched_.insert(touched_.end(), some->begin(), some->end());
  if (news == nullptr || news->about.whole || news->relays != at.relays)
    touched_.insert(touched_.end(), at.links.begin(), at.links.end());
}

/// Lets reports about these nodes count that may now, and those about others that follow from that.
void network_map::look_again_at(std::vector<endpoint_id> all) {
  do {
    std::ranges::move(paths_.take_moved(), std::back_inserter(all));
    for (const auto& id : std::exchange(all, {}))
      for (auto at = waiting_.lower_bound({id, {}}); at != waiting_.end() && at->first == id;) {
        const auto from = at->second;
        catch_up(id, nodes_.at(id), from);
        at = waiting_.upper_bound({id, from});
      }
    all = std::exchange(touched_, {});
  } while (!all.empty());
}

void network_map::look_again_at_all() {
  std::vector<endpoint_id> all;
  for (const auto& [id, from] : waiting_)
    if (all.empty() || all.back() != id)
      all.push_back(id);
  look_again_at(std::move(all));
}

/// Links that one end alone reports lead nowhere: they cost no look at the whole network. But where
/// this node has Broker peers they may be links to such peers, which make no reports.
bool network_map::changes_paths(const endpoint_id& id, const known_node& at,
                                const neighbours_report& news) const {
  const auto counts = [&](const endpoint_id& other) {
    const auto there = nodes_.find(other);
    return (there != nodes_.end() && there->second.links.contains(id)) ||
           (!broker_peers_.empty() && !knows(other));
  };
  return at.links_number == 0 || at.relays != news.relays ||
         std::ranges::any_of(news.added, counts) || std::ranges::any_of(news.removed, counts) ||
         (news.about.whole && std::ranges::any_of(at.links, counts));
}

/// From now on the report counts.
void network_map::apply(const endpoint_id& id, known_node& at, const endpoint_id& from,
                        const shared_report& report) {
  if (const auto fresh = header_of(*report).incarnation; fresh > at.incarnation) {
    if (!at.prefixes.empty())
      filter_changes_.push_back({id, 0, {}, {at.prefixes.begin(), at.prefixes.end()}});
    if (at.incarnation > 0)
      restarted_.push_back(id);
    touch(id, at, nullptr);
    forget_links(id, at);
    at.restart(fresh);
    ++links_version_;
  }
  if (const auto* links = std::get_if<neighbours_report>(report.get())) {
    if (changes_paths(id, at, *links)) {
      ++links_version_;
      touch(id, at, links);
    }
    apply_links(id, at, *links);
    if (at.links.contains(self_))
      awaited_.erase(id);
  } else if (auto change = at.apply(std::get<filter_report>(*report));
             !at.prefixes.empty() || !change.removed.empty()) { // the number counts as well
    filter_changes_.push_back(std::move(change));
  }
  shares_.remove(std::exchange(at.told_by, from), at.counted_bytes);
  shares_.add(from, at.counted_bytes = at.bytes());
  pass_on(report);
}

/// To all neighbours that have not made this report, or a later one, themselves. A node that passes
/// nothing on speaks of itself only.
void network_map::pass_on(shared_report what) {
  if (header_of(*what).node != self_ && !relays(self_))
    return;
  auto& heard = nodes_.at(header_of(*what).node).heard;
  std::vector<endpoint_id> to;
  for (const auto& [id, state] : neighbours_)
    if (!heard.has_made(id, *what))
      to.push_back(id);
  if (!to.empty())
    messages_.push_back({std::move(to), std::move(what)});
}

// -- routes --------------------------------------------------------------------------------------

/// A link between two other nodes counts only if both have reported it; one of ours if the
/// neighbour is ready.
bool network_map::is_link(const endpoint_id& id, const endpoint_id& other) const {
  const auto there = nodes_.find(other);
  return other != self_ && there != nodes_.end() && there->second.links.contains(id);
}

void network_map::apply_links(const endpoint_id& id, known_node& at,
                              const neighbours_report& news) {
  if (news.about.whole) {
    const std::unordered_set<endpoint_id> now{news.added.begin(), news.added.end()};
    for (const auto& each : at.links)
      if (each != self_ && !now.contains(each))
        paths_.remove_link(id, each);
  }
  at.apply(news);
  for (const auto& each : news.removed)
    if (each != self_)
      paths_.remove_link(id, each);
  for (const auto& each : news.added)
    if (at.links.contains(each) && is_link(id, each)) {
      paths_.add_link(id, each);
      paths_.set_relays(each, relays(each));
    }
  paths_.set_relays(id, at.relays);
}

void network_map::forget_links(const endpoint_id& id, const known_node& at) {
  for (const auto& each : at.links)
    if (each != self_)
      paths_.remove_link(id, each);
}

/// The short cuts are for hubs with many neighbours and for the many neighbours of a hub.
bool network_map::is_next_hop(const endpoint_id& neighbour, const endpoint_id& to) const {
  const auto direct = neighbours_.find(to);
  if (direct != neighbours_.end() && direct->second.ready)
    return to == neighbour;
  const auto only = neighbours_.begin();
  if (neighbours_.size() == 1)
    return only->second.ready && only->first == neighbour;
  const auto& hops = next_hops();
  const auto found = hops.find(to);
  return found != hops.end() && found->second == neighbour;
}

/// Until no more is left than so many bytes, those of which most is known first: a node that comes
/// back is missed, and one that was invented to take memory is large.
void network_map::forget_unreachable(std::size_t bytes_left) {
  const auto& hops = next_hops();
  std::vector<std::pair<std::size_t, endpoint_id>> found;
  for (const auto& [id, at] : nodes_)
    if (id != self_ && !neighbours_.contains(id) && !hops.contains(id))
      found.emplace_back(at.counted_bytes, id);
  std::ranges::sort(found, std::greater{});
  for (const auto& [bytes, id] : found) {
    if (shares_.bytes() <= bytes_left)
      return;
    const auto& at = nodes_.at(id);
    if (!at.prefixes.empty())
      filter_changes_.push_back({id, 0, {}, {at.prefixes.begin(), at.prefixes.end()}});
    forget_links(id, at);
    shares_.remove(at.told_by, at.counted_bytes);
    for (const auto& [from, state] : neighbours_)
      if (waiting_.erase({id, from}) > 0)
        shares_.remove(from, heard_reports{at.heard}.remove(from));
    nodes_.erase(id);
  }
}

} // namespace pubsub
