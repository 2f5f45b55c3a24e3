#include "node/routing/router.hpp"

#include <algorithm>
#include <iterator>

#include "base/log.hpp"
#include "node/routing/tuning.hpp"

namespace pubsub {

/// The incarnation is the time: later starts of an endpoint with the same id have a higher one.
router::router(const endpoint_id& self, filter forward_topics, bool forwarding)
    : self_(self), forwarding_(forwarding), table_(std::move(forward_topics), forwarding),
      network_(self,
               static_cast<std::uint64_t>(std::chrono::system_clock::now().time_since_epoch() /
                                          std::chrono::nanoseconds{1}),
               forwarding),
      broker_mesh_(self, forwarding), flushes_(self) {
  settle();
}

template <class Update>
void router::change(Update&& update) {
  std::lock_guard turn{turn_};
  {
    std::lock_guard lock{mutex_};
    snapshot_.reset(); // what no reader holds is changed in place
    if (update()) {
      settle();
      version_.fetch_add(1, std::memory_order_release);
      changed_.notify_all();
    }
  }
  deliver(take_news());
}

/// Lets what was changed have its effect on the rest: our own subscriptions on what is reported to
/// the network, those of others and the links on the table.
void router::settle() {
  do {
    const auto waiting = table_.changes_of_peers();
    const auto room =
        neighbours_.empty() ? waiting : pace_.room_for(waiting, std::chrono::steady_clock::now());
    auto own = table_.take_own_changes(room);
    network_.change_filter(own.number, std::move(own.added), std::move(own.removed));
    for (const auto& each : network_.take_filter_changes())
      table_.change_node(each.node, each.number, each.added, each.removed);
  } while (broker_mesh_.designate(network_, table_));
  for (const auto& each : network_.take_restarted())
    streams_.forget(each);
}

void router::report_more() {
  change([&] {
    pace_.note_call_back();
    return table_.changes_of_peers() > 0;
  });
}

/// What others should know of the last change. Only turn_ is held: publishers go on meanwhile.
letters router::take_news() {
  auto result = reports_along(network_.take_messages(), neighbours_);
  auto updates = broker_mesh_.take_updates(table_, [&] {
    std::lock_guard lock{mutex_}; // next_hops() may compute
    return network_.next_hops();
  });
  std::ranges::move(updates, std::back_inserter(result));
  return result;
}

// -- our subscribers -----------------------------------------------------------------------------

subscriber_id router::add_subscriber(std::shared_ptr<message_queue> queue, const filter& prefixes) {
  subscriber_id id = 0;
  change([&] {
    id = ++last_id_;
    if (closed_)
      queue->finish();
    else
      table_.add_local(id, std::move(queue), prefixes);
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
  std::lock_guard turn{turn_};
  if (const auto found = neighbours_.find(who); found != neighbours_.end())
    deliver(letters{letter{{found->second}, wire::make_known()}});
}

/// Nodes hear of the link before messages come over it, which they would not believe else. Who
/// looks for routes meanwhile waits for the new ones.
void router::neighbour_ready(const endpoint_id& who) {
  change([&] {
    network_.neighbour_ready(who);
    version_.fetch_add(1, std::memory_order_release);
    deliver(reports_along(network_.take_messages(), neighbours_));
    return true;
  });
}

bool router::receive(const endpoint_id& from, any_report report) {
  bool valid = true;
  change([&] {
    const auto links = network_.links_version();
    valid = network_.receive(from, std::move(report));
    return network_.links_version() != links || network_.has_filter_changes();
  });
  return valid;
}

// -- whether others know -------------------------------------------------------------------------

bool router::wait_until_known(const deadline& until) {
  report_version subscribed;
  std::vector<endpoint_id> missing;
  auto all_know = [&] {
    missing.clear();
    for (const auto& [node, via] : *next_links())
      if (known_[node] < subscribed)
        missing.push_back(node);
    return missing.empty();
  };
  auto in_time = [&] { return !until || std::chrono::steady_clock::now() < *until; };
  std::unique_lock lock{mutex_};
  subscribed = network_.filter_known(self_);
  while (!closed_ && !all_know()) {
    if (!in_time())
      return false;
    lock.unlock();
    ask({self_, wire::max_hops, missing}); // again, if an answer was lost with its link
    lock.lock();
    auto again = std::chrono::steady_clock::now() + routing_tuning::time_between_questions;
    changed_.wait_until(lock, until ? std::min(*until, again) : again,
                        [&] { return closed_ || all_know(); });
  }
  return !closed_;
}

void router::ask(const filter_question& question) {
  std::lock_guard turn{turn_}; // behind the reports that were sent before
  deliver(ask_along(question, *directions()));
}

void router::receive(filter_question question) {
  const bool for_us = std::erase(question.to, self_) > 0;
  if (question.hops_left-- > 1 && !question.to.empty() && forwarding_)
    ask(question);
  if (!for_us)
    return;
  std::unique_lock lock{mutex_};
  const auto [incarnation, number] = network_.filter_known(question.from);
  lock.unlock();
  receive(self_, filter_answer{self_, question.from, wire::max_hops, incarnation, number});
}

void router::receive(const endpoint_id& from, const filter_answer& answer) {
  std::unique_lock lock{mutex_};
  if (from != self_ && !network_.is_next_hop(from, answer.from))
    return;
  if (answer.to == self_ && !next_links()->contains(answer.from))
    return; // of no node that was asked
  if (answer.to != self_) {
    lock.unlock();
    return deliver(answer_along(answer, *directions(), wire::make_answer));
  }
  auto& known = known_[answer.from];
  known = std::max(known, report_version{answer.incarnation, answer.number});
  changed_.notify_all();
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
  change([&] {
    std::vector<endpoint_id> known;
    for (const auto& who : all) {
      if (!broker_mesh_.remove(who) && neighbours_.erase(who) == 0)
        continue;
      table_.remove_peer(who);
      known.push_back(who);
    }
    if (known.empty())
      return false;
    network_.remove(known);
    return true;
  });
}

filter router::peer_filter(const endpoint_id& who) const {
  std::lock_guard turn{turn_};
  if (const auto* const found = broker_mesh_.subscriptions_of(who))
    return *found;
  std::lock_guard lock{mutex_};
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
  network_.visit_nodes([&](const endpoint_id& id, bool relays, const auto& links) {
    const auto path = next_hops.find(id);
    result.push_back({id,
                      path == next_hops.end() ? endpoint_id{} : path->second,
                      {links.begin(), links.end()},
                      relays,
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
        routing_snapshot{table_.local_index(), table_.remote_index(), table_.numbers(),
                         next_links(), broker_mesh_.routes()});
  return snapshot_;
}

/// Called with the mutex held.
std::size_t router::count_here(std::string_view topic) const {
  std::vector<const prefix_index<endpoint_id>::target*> found;
  table_.remote_index().match(topic, found);
  const auto remote = std::ranges::count_if(found, [&](const auto* each) {
    return broker_mesh_.routes()->links.contains(each->exit) || next_links()->contains(each->exit);
  });
  return table_.local_index().count(topic) + static_cast<std::size_t>(remote);
}

bool router::wait_for(std::string_view topic, std::size_t n,
                      std::chrono::nanoseconds timeout) const {
  std::unique_lock lock{mutex_};
  const auto enough = [&] { return count_here(topic) >= n; };
  wait_until(changed_, lock, deadline_after(timeout), [&] { return closed_ || enough(); });
  return enough();
}

void router::look_again() {
  change([] { return true; });
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

} // namespace pubsub
