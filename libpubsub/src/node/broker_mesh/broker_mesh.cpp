// SPDX-License-Identifier: BSD-3-Clause
#include "node/broker_mesh/broker_mesh.hpp"

#include <pubsub/topic.hpp>

#include "wire/broker/envelope.hpp"

namespace pubsub {

bool broker_routes::turns_away(const endpoint_id& peer, std::string_view topic,
                               std::string_view content, unsigned hops_left) const {
  if (of_others.contains(peer) || is_closed(peer, topic))
    return true;
  if (!copies || links.size() + of_others.size() <= 1)
    return false;
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  const auto now_s = std::chrono::duration_cast<std::chrono::seconds>(now).count();
  return copies->is_copy(content, hops_left, static_cast<std::uint32_t>(now_s));
}

void broker_mesh::add(const endpoint_id& who, std::shared_ptr<peer_link> via, filter subscriptions,
                      filter announced) {
  if (forwarding_ && !copies_)
    copies_ = std::make_shared<relayed_copies>();
  peers_[who] = {std::move(via), std::move(subscriptions), std::move(announced), false};
  chosen_for_ = 0;
}

bool broker_mesh::remove(const endpoint_id& who) {
  if (peers_.erase(who) == 0)
    return false;
  chosen_for_ = 0;
  make_routes();
  return true;
}

const filter* broker_mesh::subscriptions_of(const endpoint_id& who) const {
  const auto found = peers_.find(who);
  return found == peers_.end() ? nullptr : &found->second.subscriptions;
}

bool broker_mesh::set_subscriptions(const endpoint_id& who, filter all,
                                    node_subscriptions& subscribers) {
  const auto found = peers_.find(who);
  if (found == peers_.end())
    return false;
  found->second.subscriptions = std::move(all);
  return found->second.designated && subscribers.set_peer_filter(who, found->second.subscriptions);
}

bool broker_mesh::left_to_another(const endpoint_id& who) const {
  const auto found = peers_.find(who);
  return found != peers_.end() && !found->second.designated;
}

void broker_mesh::make_routes() {
  auto fresh = std::make_shared<broker_routes>();
  for (const auto& [id, each] : peers_)
    if (each.designated)
      fresh->links.emplace(id, each.via);
    else
      fresh->of_others.insert(id);
  fresh->closed = circles_.closed();
  fresh->copies = copies_;
  fresh->transit = transit_;
  routes_ = std::move(fresh);
}

bool broker_mesh::designate(const network_map& network, node_subscriptions& subscribers) {
  if (peers_.empty() || chosen_for_ == network.links_version())
    return false;
  chosen_for_ = network.links_version();
  all_in_network_.clear();
  std::set<endpoint_id> of_others;
  network.visit_nodes([&](const endpoint_id& node, const known_node& at) {
    if (network.next_hops().contains(node))
      for (const auto& linked : at.links)
        if (!network.knows(linked)) {
          all_in_network_.insert(linked);
          if (node < self_)
            of_others.insert(linked);
        }
  });
  for (auto& [id, each] : peers_) {
    all_in_network_.insert(id);
    const bool ours = !of_others.contains(id);
    if (std::exchange(each.designated, ours) != ours)
      subscribers.set_peer_filter(id, ours ? each.subscriptions : filter{});
  }
  circles_.keep_if([&](const auto& id) { return all_in_network_.contains(id); });
  make_routes();
  subscribers.outdate_all();
  return true;
}

letters broker_mesh::take_updates(node_subscriptions& subscribers,
                                  const std::function<next_hop_map()>& within_reach) {
  letters result;
  const auto outdated = subscribers.take_outdated();
  if (outdated.empty())
    return result;
  const auto nodes = within_reach();
  for (const auto& id : outdated) {
    auto& each = peers_.at(id);
    filter current;
    if (each.designated)
      current =
          subscribers.announcement_for(id, [&](const auto& node) { return nodes.contains(node); });
    if (current == each.announced)
      continue;
    result.push_back({{each.via}, wire::make_routing_update(self_, id, current)});
    each.announced = std::move(current);
  }
  return result;
}

// -- circles -------------------------------------------------------------------------------------

std::vector<std::string> broker_mesh::topics_to_probe(const endpoint_id& over,
                                                      const node_subscriptions& subscribers) const {
  const auto found = peers_.find(over);
  if (found == peers_.end() || !found->second.designated || all_in_network_.size() < 2)
    return {};
  auto result = subscribers.shared_with(over);
  std::erase_if(result, is_reserved_topic); // of stores, to which a probe would mean something
  return result;
}

bool broker_mesh::receive_probe(const endpoint_id& from, const endpoint_id& over,
                                std::string_view topic, circles::time now) {
  if (!peers_.contains(from) || !all_in_network_.contains(over) ||
      !circles_.note(from, over, topic, now))
    return false;
  make_routes();
  return true;
}

bool broker_mesh::expire_circles(circles::time now) {
  if (!circles_.expire(now))
    return false;
  make_routes();
  return true;
}

} // namespace pubsub
