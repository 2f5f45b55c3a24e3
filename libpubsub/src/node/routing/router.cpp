// SPDX-License-Identifier: BSD-3-Clause
#include "node/routing/router.hpp"

#include <algorithm>
#include <iterator>
#include <set>

#include "base/log.hpp"
#include "node/routing/tuning.hpp"

namespace pubsub {

/// The incarnation is the time: later starts of an endpoint with the same id have a higher one.
router::router(const endpoint_id& self, filter forward_topics, bool forwarding, std::string name,
               bool broker_transit, text_matcher_maker regex)
    : self_(self), forwarding_(forwarding),
      table_(std::move(forward_topics), forwarding, broker_transit, regex),
      network_(self,
               static_cast<std::uint64_t>(std::chrono::system_clock::now().time_since_epoch() /
                                          std::chrono::nanoseconds{1}),
               std::move(name)),
      broker_mesh_(self, forwarding, broker_transit), flushes_(self) {
  settle();
}

template <class Update>
void router::change(Update&& update) {
  std::unique_lock turn{turn_};
  {
    std::lock_guard lock{mutex_};
    snapshot_.reset(); // what no reader holds is changed in place
    const bool changed = update();
    relays_wait_.store(client_links_.serving().any_must_wait(), std::memory_order_release);
    if (changed) {
      settle();
      version_.fetch_add(1, std::memory_order_release);
      changed_.notify_all();
    }
  }
  deliver(take_news());
  turn.unlock();
  look_at_waits();
}

/// Lets what was changed have its effect on the rest: our own subscriptions on what is reported to
/// the network, those of others and the links on the table.
void router::settle() {
  if (network_.has_news_of_links() && pace_.may_report_links())
    network_.report_links();
  do {
    const auto waiting = table_.changes_of_peers();
    auto own =
        table_.take_own_changes(network_.has_neighbours() ? pace_.room_for(waiting) : waiting);
    network_.change_filter(own.number, std::move(own.added), std::move(own.removed));
    for (const auto& each : network_.take_filter_changes()) {
      if (clients().contains(each.node)) // which no node knows
        continue;
      table_.change_node(each.node, each.number, each.added, each.removed);
      note_change(each.node);
    }
  } while (broker_mesh_.designate(network_, table_));
  client_links_.settle([this] { return next_links(); }, counter(), conditions());
  if (client_links_.interests().any_outdated())
    pace_.count_if_time([this] { client_links_.count_again(counter()); });
  for (const auto& each : network_.take_restarted()) {
    streams_.forget(each);
    note_change(each);
  }
  if (!watches_.empty())
    for (const auto& each : network_.take_reach_changes())
      note_change(each);
}

void router::report_more() {
  change([&] {
    pace_.note_call_back();
    return table_.changes_of_peers() > 0 || network_.has_news_of_links() ||
           client_links_.interests().any_outdated();
  });
  answer_due();
  ask_again();
}

/// What others should know of the last change. Only turn_ is held: publishers go on meanwhile.
letters router::take_news() {
  auto result = reports_along(network_.take_messages(), neighbours_);
  auto updates = broker_mesh_.take_updates(table_, [&] {
    std::lock_guard lock{mutex_}; // next_hops() may compute
    return network_.next_hops();
  });
  std::ranges::move(updates, std::back_inserter(result));
  std::ranges::move(client_links_.take_news(), std::back_inserter(result));
  return result;
}

// -- our subscribers -----------------------------------------------------------------------------

subscriber_id router::add_subscriber(std::shared_ptr<message_queue> queue, const filter& prefixes,
                                     std::string told) {
  subscriber_id id = 0;
  change([&] {
    id = ++last_id_;
    if (closed_)
      queue->finish();
    else
      table_.add_local(id, std::move(queue), prefixes, std::move(told));
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

// -- Broker peers --------------------------------------------------------------------------------

void router::add_broker_peer(const endpoint_id& who, std::shared_ptr<peer_link> via,
                             filter subscriptions, filter announced) {
  change([&] {
    broker_mesh_.add(who, std::move(via), std::move(subscriptions), std::move(announced));
    table_.add_peer(who, {});
    network_.add_broker_peer(who);
    return true;
  });
}

void router::set_filter(const endpoint_id& who, filter subscriptions) {
  change([&] { return broker_mesh_.set_subscriptions(who, std::move(subscriptions), table_); });
}

void router::forget_old_circles() {
  change([&] { return broker_mesh_.expire_circles(std::chrono::steady_clock::now()); });
}

std::vector<std::string> router::topics_to_probe(const endpoint_id& over) const {
  std::lock_guard turn{turn_};
  return broker_mesh_.topics_to_probe(over, table_);
}

/// Only a probe that was sent within the network shows that it has come back.
void router::receive_probe(const endpoint_id& from, const endpoint_id& prober,
                           const endpoint_id& over, std::string_view topic) {
  bool closed = false;
  change([&] {
    const bool ours = prober == self_ || next_links()->contains(prober);
    closed =
        ours && broker_mesh_.receive_probe(from, over, topic, std::chrono::steady_clock::now());
    return closed;
  });
  if (closed)
    log(log_level::warning, "what goes to the version-1 peer " + to_string(over) +
                                " comes back from " + to_string(from) + ": messages on " +
                                std::string{topic} + " go over the first alone");
}

// -- nodes of the network ------------------------------------------------------------------------

void router::add_neighbour(const endpoint_id& who, std::shared_ptr<peer_link> via) {
  change([&] {
    neighbours_[who] = std::move(via);
    network_.add_neighbour(who);
    return true;
  });
  say_known(who);
}

/// Behind what has been reported.
void router::say_known(const endpoint_id& who) {
  std::lock_guard turn{turn_};
  if (const auto found = neighbours_.find(who); found != neighbours_.end())
    deliver(letters{letter{{found->second}, wire::make_known()}});
}

/// Nodes hear of the link before messages come over it, which they would not believe else. Who
/// looks for routes meanwhile waits for the new ones.
void router::neighbour_ready(const endpoint_id& who) {
  change([&] {
    network_.neighbour_ready(who, clock_());
    version_.fetch_add(1, std::memory_order_release);
    deliver(reports_along(network_.take_messages(), neighbours_));
    return true;
  });
}

bool router::receive(const endpoint_id& from, any_report report) {
  bool valid = true;
  bool awaited = false;
  change([&] {
    if (clients().contains(from)) {
      valid = client_links_.receive(from, report);
      note_change(from);
      return valid;
    }
    const auto links = network_.links_version();
    const bool before = awaits_links();
    valid = network_.receive(from, std::move(report));
    awaited = before && !awaits_links();
    return network_.links_version() != links || network_.has_filter_changes();
  });
  if (awaited)
    answer_due();
  return valid;
}

// -- clients and their relays --------------------------------------------------------------------

bool router::add_client(const endpoint_id& who, std::shared_ptr<peer_link> via, bool host,
                        std::string name) {
  bool added = false;
  change([&] {
    added = !(host && forwards());
    if (!added)
      return false;
    neighbours_[who] = via;
    client_links_.add_client(who, std::move(via), host, std::move(name));
    note_change(who);
    located_.erase(who);
    return true;
  });
  if (host && added)
    say_known(who);
  return added;
}

void router::client_ready(const endpoint_id& who) {
  change([&] {
    const bool started = client_links_.start(who);
    note_change(who);
    if (started && forwards())
      deliver(letters{letter{{neighbours_.at(who)}, wire::make_known()}});
    return started;
  });
}

bool router::add_relay(const endpoint_id& who, std::shared_ptr<peer_link> via, std::string name) {
  bool added = false;
  change([&] {
    added = !forwards();
    if (!added)
      return false;
    neighbours_[who] = via;
    client_links_.add_relay(who, std::move(via), std::move(name));
    note_change(who);
    return true;
  });
  if (added)
    say_known(who);
  return added;
}

void router::start_forwarding() {
  change([&] {
    std::vector<endpoint_id> all;
    for (const auto& [who, via] : neighbours_)
      all.push_back(who);
    drop(all);
    forwarding_.store(true, std::memory_order_relaxed);
    table_.start_forwarding();
    broker_mesh_.start_forwarding();
    return true;
  });
}

void router::receive_served(const endpoint_id& from, const endpoint_id& by) {
  change([&] { return client_links_.receive_served(from, by, *next_links()); });
  changed_.notify_all();
  if (from == by) // it retires: over the one that follows it our filter has to be known
    ask({self_, wire::max_hops, hosts()});
}

bool router::move_clients(const deadline& until) {
  change([&] {
    client_links_.ask_to_move(self_);
    return false;
  });
  std::unique_lock lock{mutex_};
  const auto moved = [&] { return closed_ || clients().all_have_answered(); };
  if (until)
    changed_.wait_until(lock, *until, moved);
  else
    changed_.wait(lock, moved);
  return !closed_ && clients().all_have_answered();
}

void router::receive_interest(const endpoint_id& from, topic_interest what) {
  constexpr std::uint32_t most = 1U << 30;
  what.number = std::clamp<std::uint32_t>(what.number, 1, most);
  std::lock_guard turn{turn_};
  {
    std::lock_guard lock{mutex_};
    client_links_.receive_interest(from, what, counter(), conditions());
  }
  deliver(take_news());
}

/// What a relay tells: everything, where it says no conditions, or one that cannot be read here.
link_wish router::read_wish(const std::vector<std::string>& conditions) {
  const bool any = !conditions.empty() && conditions.size() <= routing_tuning::max_conditions_told;
  link_wish result{.everything = !any};
  for (std::size_t i = 0; any && i < conditions.size(); ++i) {
    result.conditions.push_back(table_.read_condition(conditions[i]));
    result.everything = result.everything || result.conditions.back() == nullptr;
  }
  return result;
}

void router::receive_wanted(const endpoint_id& from, const topic_interest& what) {
  {
    std::lock_guard lock{mutex_};
    client_links_.interests().confirm(from);
    auto wish = read_wish(what.conditions);
    if (client_links_.serving().note(from, what, std::move(wish))) {
      snapshot_.reset();
      version_.fetch_add(1, std::memory_order_release);
    }
    changed_.notify_all();
  }
  look_at_waits();
  answer_due();
}

void router::note_entry(const endpoint_id& client, const location& from) {
  std::lock_guard lock{mutex_};
  if (located_.size() >= routing_tuning::max_located_clients)
    located_.clear(); // they are heard of again
  located_[client] = from;
}

// -- whether others know -------------------------------------------------------------------------

bool router::retire(const deadline& until) {
  change([&] {
    network_.stop_relaying();
    return true;
  });
  return wait_until_all_has_come(until);
}

bool router::wait_until_all_has_come(const deadline& until) {
  change([&] {
    acknowledged_.forget(); // a node that answers has seen the reports that were sent before
    waits_.forget_asked();
    return true;
  });
  return wait_until_known(until);
}

/// Who asks whether all nodes know something reaches all that are linked by now: each that is asked
/// reports its new links before it passes the question on, or answers, and answers once the nodes
/// at the other ends have reported these links, too.
void router::report_links() {
  {
    std::lock_guard lock{mutex_};
    if (!network_.has_news_of_links())
      return;
  }
  change([&] {
    network_.report_links();
    return true;
  });
}

void router::receive(const endpoint_id& from, const filter_answer& answer) {
  std::unique_lock lock{mutex_};
  if (from != self_ && !leads_to(from, answer.from))
    return;
  if (answer.to == self_ && !leads_to(answer.from, answer.from) &&
      !next_links()->contains(answer.from))
    return; // of no node that was asked
  if (answer.to != self_) {
    lock.unlock();
    return deliver(answer_along(answer, *directions(), wire::make_answer));
  }
  const bool news = acknowledged_.note(answer.from, {answer.incarnation, answer.number});
  const bool follows = client_links_.serving().must_wait(answer.from);
  changed_.notify_all();
  lock.unlock();
  if (follows)
    change([&] { return client_links_.take_over(answer.from); });
  if (!news)
    return;
  look_at_waits();
  answer_due();
}

/// Called with the mutex held.
bool router::leads_to(const endpoint_id& neighbour, const endpoint_id& node) const {
  if (network_.hosts().contains(node))
    return neighbour == node;
  return network_.is_next_hop(neighbour, node);
}

void router::receive(const flush_answer& answer) {
  if (answer.to == self_)
    return flushes_.receive(answer);
  deliver(answer_along(answer, *directions(), wire::make_flushed));
}

// -- both ----------------------------------------------------------------------------------------

std::vector<endpoint_id> router::remove_peer(const endpoint_id& who) {
  std::unique_lock lock{mutex_};
  auto result = nodes_behind(who);
  if (client_links_.serving().contains(who))
    result.push_back(who);
  lock.unlock();
  remove_peers({who});
  const auto within_reach = directions();
  std::erase_if(result,
                [&](const auto& node) { return node != who && !within_reach->contains(node); });
  return result;
}

/// Called with the mutex held.
std::vector<endpoint_id> router::nodes_behind(const endpoint_id& neighbour) const {
  std::vector<endpoint_id> result;
  for (const auto& [node, hop] : network_.next_hops())
    if (hop == neighbour)
      result.push_back(node);
  return result;
}

void router::remove_peers(const std::vector<endpoint_id>& all) {
  change([&] { return drop(all); });
  answer_due();
}

/// Called within a change. False if there were none of them.
bool router::drop(const std::vector<endpoint_id>& peers) {
  bool any = false;
  std::vector<endpoint_id> known;
  for (const auto& who : peers) {
    const bool broker_peer = broker_mesh_.remove(who);
    if (!broker_peer && neighbours_.erase(who) == 0)
      continue;
    any = true;
    if (client_links_.remove(who)) {
      note_change(who);
      continue;
    }
    table_.remove_peer(who);
    known.push_back(who);
  }
  if (!known.empty())
    network_.remove(known);
  return any;
}

filter router::peer_filter(const endpoint_id& who) const {
  std::lock_guard turn{turn_};
  if (const auto* const found = broker_mesh_.subscriptions_of(who))
    return *found;
  std::lock_guard lock{mutex_};
  if (clients().contains(who))
    return table_.client_filter(who);
  filter result;
  for (const auto& node : nodes_behind(who))
    result.add(table_.node_filter(node));
  return result;
}

std::vector<node_info> router::nodes() const {
  std::lock_guard turn{turn_};
  std::lock_guard lock{mutex_};
  const auto& next_hops = network_.next_hops();
  std::vector<node_info> result;
  for (const auto& [relay, via] : *client_links_.serving().links())
    result.push_back({relay, {}, relay, {self_}, true, {}});
  network_.visit_nodes([&](const endpoint_id& id, const known_node& at) {
    const auto path = next_hops.find(id);
    result.push_back({id,
                      at.name,
                      path == next_hops.end() ? endpoint_id{} : path->second,
                      {at.links.begin(), at.links.end()},
                      at.relays,
                      table_.node_filter(id)});
  });
  return result;
}

filter router::announcement_for(const endpoint_id& peer) const {
  std::lock_guard turn{turn_};
  std::lock_guard lock{mutex_};
  if (broker_mesh_.left_to_another(peer))
    return {};
  const auto& within_reach = network_.next_hops();
  return table_.announcement_for(peer,
                                 [&](const auto& node) { return within_reach.contains(node); });
}

std::shared_ptr<const routing_snapshot> router::snapshot() const {
  std::lock_guard lock{mutex_};
  if (!snapshot_)
    snapshot_ = std::make_shared<const routing_snapshot>(
        routing_snapshot{table_.local_index(), table_.remote_index(), table_.selective_index(),
                         table_.numbers(), clients().links(), next_links(),
                         !client_links_.serving().links()->empty(), broker_mesh_.routes()});
  return snapshot_;
}

void router::look_again() {
  change([] { return true; });
}

void router::set_screen(std::shared_ptr<const message_screen> screen) {
  change([&] {
    screen_.swap(screen); // the old one goes when no lock is held
    return true;
  });
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
    for (const auto& each : watches_)
      each->finish();
    waits_.close();
    return true;
  });
}

} // namespace pubsub
