// How many want a topic: here, and as far as our relays tell.
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <set>

#include "node/routing/router.hpp"
#include "node/routing/tuning.hpp"

namespace pubsub {

/// Called with the mutex held: nodes, clients and Broker peers, as far as `most`, and this endpoint
/// for one.
std::size_t router::count_remote(std::string_view topic, std::size_t most) const {
  std::unordered_set<endpoint_id> found;
  const auto& peers = broker_mesh_.routes()->links;
  const auto& within_reach = *next_links();
  const auto here = table_.wants(topic) ? 1U : 0U;
  const auto note = [&](const endpoint_id& who) {
    if (clients().contains(who) || within_reach.contains(who) || peers.contains(who))
      found.insert(who);
    return here + found.size() < most;
  };
  if (table_.remote_index().visit(topic, [&](const auto& each) { return note(each.exit.node); }))
    table_.selective_index().visit(topic, [&](const auto& each) { return note(each.exit.node); });
  return here + found.size();
}

/// The conditions under which all want the topic, as they are told; none where one wants everything
/// or they are too many. Called with the mutex held.
std::vector<std::string> router::conditions_on(std::string_view topic) const {
  const auto& within_reach = *next_links();
  const auto& peers = broker_mesh_.routes()->links;
  const auto is_reached = [&](const endpoint_id& who) {
    return clients().contains(who) || within_reach.contains(who) || peers.contains(who);
  };
  std::set<const condition*> known; // equal ones are one
  std::set<std::string> result;
  std::size_t bytes = 0;
  std::size_t visited = 0;
  const auto note = [&](const selective_target& x) {
    if (!is_reached(x.node))
      return true;
    if (x.what != nullptr && known.insert(x.what.get()).second)
      bytes += result.insert(told_form(*x.what)).first->size();
    return x.what != nullptr && ++visited <= routing_tuning::max_subscribers_asked &&
           result.size() <= routing_tuning::max_conditions_told &&
           bytes <= routing_tuning::max_bytes_of_conditions_told;
  };
  const bool all_select =
      !table_.wants(topic) &&
      table_.remote_index().visit(topic, [&](const auto& x) { return !is_reached(x.exit.node); }) &&
      table_.selective_index().visit(topic, [&](const auto& x) { return note(x.exit); });
  if (!all_select)
    return {};
  return {result.begin(), result.end()};
}

/// Called with the mutex held.
std::size_t router::count_here(std::string_view topic) const {
  const auto here = table_.local_index().count(topic);
  const auto remote =
      count_remote(topic, routing_tuning::most_counted) - (table_.wants(topic) ? 1 : 0);
  return here + remote + client_links_.serving().told(topic);
}

router::node_counts router::count_nodes() const {
  std::lock_guard turn{turn_};
  std::lock_guard lock{mutex_};
  const auto& next_hops = network_.next_hops();
  node_counts result{client_links_.serving().links()->size(), 0};
  network_.visit_nodes([&](const endpoint_id& id, const known_node&) {
    ++result.known;
    result.out_of_reach += next_hops.contains(id) ? 0 : 1;
  });
  return result;
}

std::size_t router::count(std::string_view topic) const {
  std::unique_lock lock{mutex_};
  wait_for_relays(lock, topic, routing_tuning::most_counted, {});
  return count_here(topic);
}

void router::ask_relays(std::string_view topic, const deadline& until) const {
  std::unique_lock lock{mutex_};
  wait_for_relays(lock, topic, 1, until);
}

void router::wait_for_relays(std::unique_lock<std::mutex>& lock, std::string_view topic,
                             std::uint32_t enough, const deadline& until) const {
  auto& relays = client_links_.serving();
  relays.ask(topic, enough);
  const auto patience = deadline_after(routing_tuning::patience_with_relay);
  const bool told = wait_until(changed_, lock, until ? std::min(until, patience) : patience,
                               [&] { return closed_ || relays.is_told(topic); });
  if (!told && std::chrono::steady_clock::now() >= *patience)
    relays.give_up(topic);
}

bool router::wait_for(std::string_view topic, std::size_t n,
                      std::chrono::nanoseconds timeout) const {
  std::unique_lock lock{mutex_};
  const auto asked =
      static_cast<std::uint32_t>(std::min<std::size_t>(n, routing_tuning::most_counted));
  const auto enough = [&] {
    client_links_.serving().ask(topic, asked);
    return count_here(topic) >= n;
  };
  wait_until(changed_, lock, deadline_after(timeout), [&] { return closed_ || enough(); });
  return enough();
}

} // namespace pubsub
