#include "node/routing/router.hpp"

#include "base/log.hpp"
#include "wire/broker/envelope.hpp"
#include "wire/native/network.hpp"

namespace pubsub {

namespace {

constexpr std::chrono::milliseconds time_between_questions{200};
constexpr std::size_t max_unread_news_bytes = 64 * 1024 * 1024; // of news a peer does not read

/// Later starts of an endpoint with the same id have a higher one.
std::uint64_t new_incarnation() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}

void push_news(link& to, std::span<const std::byte> frame) {
  if (to.control_bytes() > max_unread_news_bytes)
    return to.close({errc::limit_exceeded, "the peer does not read news of the network"});
  to.push_control(frame);
}

} // namespace

router::router(const endpoint_id& self, filter forward_topics, bool forwarding)
    : self_(self), forwarding_(forwarding), table_(std::move(forward_topics), forwarding),
      network_(self, new_incarnation(), forwarding), flushes_(self),
      next_links_(std::make_shared<directory>()) {
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
  tell();
}

/// Lets what was changed have its effect on the rest: our own wants on what the network is told,
/// the wants of others and the links on the table.
void router::settle() {
  do {
    auto own = table_.take_own_changes();
    network_.change_filter(own.number, std::move(own.added), std::move(own.removed));
    for (const auto& each : network_.take_filter_changes())
      table_.change_node(each.node, each.node, each.number, each.added, each.removed);
  } while (choose_speakers());
  for (const auto& each : network_.take_restarted())
    streams_.forget(each);
}

/// Of all nodes linked with a Broker peer one speaks for it. True if ours have changed.
bool router::choose_speakers() {
  if (broker_peers_.empty() || speakers_version_ == network_.links_version())
    return false;
  speakers_version_ = network_.links_version();
  all_broker_peers_ = network_.all_broker_peers();
  circles_.keep_if([&](const auto& id) { return all_broker_peers_.contains(id); });
  auto chosen = std::make_shared<directory>();
  auto left = std::make_shared<std::set<endpoint_id>>();
  for (auto& [id, who] : broker_peers_) {
    const bool ours = network_.is_designated_for(id);
    if (ours)
      chosen->emplace(id, who.via);
    else
      left->insert(id);
    if (std::exchange(who.spoken_for, ours) != ours)
      table_.set_peer_filter(id, ours ? who.wanted : filter{});
  }
  spoken_for_ = std::move(chosen);
  left_to_others_ = std::move(left);
  table_.outdate_all();
  return true;
}

// -- our subscribers -----------------------------------------------------------------------------

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

// -- Broker peers
// ----------------------------------------------------------------------------------

void router::add_broker_peer(const endpoint_id& who, std::shared_ptr<link> via, filter wanted,
                             filter announced) {
  change([&] {
    if (!copies_)
      copies_ = std::make_unique<relayed_copies>();
    broker_peers_[who] = {std::move(via), std::move(wanted), std::move(announced), false};
    table_.add_peer(who, who, {});
    network_.add_broker_peer(who);
    speakers_version_ = 0;
    return true;
  });
}

void router::set_filter(const endpoint_id& who, filter wanted) {
  change([&] {
    const auto found = broker_peers_.find(who);
    if (found == broker_peers_.end())
      return false;
    found->second.wanted = std::move(wanted);
    return found->second.spoken_for && table_.set_peer_filter(who, found->second.wanted);
  });
}

void router::forget_old_circles() {
  {
    std::lock_guard turn{turn_};
    if (circles_.closed()->empty())
      return;
  }
  change([&] { return circles_.expire(std::chrono::steady_clock::now()); });
}

std::vector<std::string> router::topics_to_probe(const endpoint_id& over) const {
  std::lock_guard turn{turn_};
  const auto found = broker_peers_.find(over);
  if (found == broker_peers_.end() || !found->second.spoken_for || all_broker_peers_.size() < 2)
    return {};
  auto result = table_.shared_with(over);
  std::erase_if(result, is_reserved_topic); // of stores, to which a probe would mean something
  return result;
}

/// Only what comes from within the network shows that it has come back.
void router::receive_probe(const endpoint_id& from, const endpoint_id& prober,
                           const endpoint_id& over, std::string_view topic) {
  bool closed = false;
  change([&] {
    const bool ours = prober == self_ || next_links()->contains(prober);
    closed = ours && broker_peers_.contains(from) && all_broker_peers_.contains(over) &&
             circles_.note(from, over, topic, std::chrono::steady_clock::now());
    return closed;
  });
  if (closed)
    log(log_level::warning, "what goes to the version-1 peer " + to_string(over) +
                                " comes back from " + to_string(from) + ": messages on " +
                                std::string{topic} + " go over the first alone");
}

// -- nodes of the network ------------------------------------------------------------------------

void router::add_neighbour(const endpoint_id& who, std::shared_ptr<link> via) {
  change([&] {
    neighbours_[who] = std::move(via);
    network_.add_neighbour(who);
    return true;
  });
  std::lock_guard turn{turn_};
  if (const auto found = neighbours_.find(who); found != neighbours_.end())
    push_news(*found->second, wire::make_known());
}

void router::neighbour_ready(const endpoint_id& who) {
  change([&] {
    network_.neighbour_ready(who);
    return true;
  });
}

template <class Report>
bool router::take_report(const endpoint_id& from, Report report) {
  bool valid = true;
  change([&] {
    const auto links = network_.links_version();
    valid = network_.receive(from, std::move(report));
    return network_.links_version() != links || network_.has_filter_changes();
  });
  return valid;
}

bool router::receive(const endpoint_id& from, neighbours_report report) {
  return take_report(from, std::move(report));
}

bool router::receive(const endpoint_id& from, filter_report report) {
  return take_report(from, std::move(report));
}

// -- whether others know -------------------------------------------------------------------------

bool router::wait_until_known(const deadline& until) {
  filter_version wanted;
  std::vector<endpoint_id> missing;
  auto all_know = [&] {
    missing = ignorant_of(wanted);
    return missing.empty();
  };
  auto in_time = [&] { return !until || std::chrono::steady_clock::now() < *until; };
  std::unique_lock lock{mutex_};
  wanted = network_.filter_known(self_);
  while (!closed_ && !all_know()) {
    if (!in_time())
      return false;
    lock.unlock();
    send_along({self_, wire::max_hops, missing}); // again, if an answer was lost with its link
    lock.lock();
    auto again = std::chrono::steady_clock::now() + time_between_questions;
    changed_.wait_until(lock, until ? std::min(*until, again) : again,
                        [&] { return closed_ || all_know(); });
  }
  return !closed_;
}

/// Nodes within reach that have not said they know that much; called with the mutex held.
std::vector<endpoint_id> router::ignorant_of(const filter_version& wanted) const {
  std::vector<endpoint_id> result;
  for (const auto& [node, via] : *next_links())
    if (const auto found = knowing_.find(node); found == knowing_.end() || found->second < wanted)
      result.push_back(node);
  return result;
}

/// To the next hops, each with its part of the nodes.
void router::send_along(const filter_question& question) {
  std::lock_guard turn{turn_}; // behind the reports that were sent before
  std::unique_lock lock{mutex_};
  const auto directions = next_links();
  lock.unlock();
  std::map<std::shared_ptr<link>, std::vector<endpoint_id>> parts;
  for (const auto& node : question.to)
    if (const auto path = directions->find(node); path != directions->end())
      parts[path->second].push_back(node);
  for (auto& [via, nodes] : parts)
    push_news(*via, wire::make_question({question.from, question.hops_left, std::move(nodes)}));
}

void router::receive(const filter_question& question) {
  auto rest = question;
  const bool for_us = std::erase(rest.to, self_) > 0;
  if (rest.hops_left > 1 && !rest.to.empty() && forwarding_) {
    --rest.hops_left;
    send_along(rest);
  }
  if (!for_us)
    return;
  filter_version known;
  {
    std::lock_guard lock{mutex_};
    known = network_.filter_known(question.from);
  }
  receive(filter_answer{self_, question.from, wire::max_hops, known.first, known.second});
}

void router::receive(const filter_answer& answer) {
  std::unique_lock lock{mutex_};
  if (answer.to == self_) {
    if (!next_links()->contains(answer.from))
      return; // nobody we have asked
    auto& known = knowing_[answer.from];
    known = std::max(known, filter_version{answer.incarnation, answer.number});
    changed_.notify_all();
    return;
  }
  lock.unlock();
  auto passed_on = answer;
  if (const auto via = next_for(passed_on))
    push_news(*via, wire::make_answer(passed_on));
}

void router::receive(const flush_answer& answer) {
  if (answer.to == self_)
    return flushes_.receive(answer);
  auto passed_on = answer;
  if (const auto via = next_for(passed_on))
    push_news(*via, wire::make_flushed(passed_on));
}

/// The link towards whom the answer is for, one hop less being left; null if it goes no further.
template <class Answer>
std::shared_ptr<link> router::next_for(Answer& answer) const {
  std::lock_guard lock{mutex_};
  const auto path = next_links()->find(answer.to);
  return path == next_links()->end() || answer.hops_left-- <= 1 ? nullptr : path->second;
}

// -- both ----------------------------------------------------------------------------------------

std::vector<endpoint_id> router::remove_peer(const endpoint_id& who) {
  std::unique_lock lock{mutex_};
  auto result = nodes_behind(who);
  lock.unlock();
  remove_peers({who});
  lock.lock();
  std::erase_if(result,
                [&](const auto& node) { return node != who && !next_links()->contains(node); });
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
      if (broker_peers_.erase(who) + neighbours_.erase(who) == 0)
        continue;
      table_.remove_peer(who);
      known.push_back(who);
    }
    if (known.empty())
      return false;
    network_.remove(known);
    speakers_version_ = 0;
    spoken_for_ = std::make_shared<directory>();
    left_to_others_ = std::make_shared<std::set<endpoint_id>>();
    return true;
  });
}

filter router::peer_filter(const endpoint_id& who) const {
  std::lock_guard turn{turn_};
  if (const auto found = broker_peers_.find(who); found != broker_peers_.end())
    return found->second.wanted;
  std::lock_guard lock{mutex_};
  filter result;
  for (const auto& node : nodes_behind(who))
    result.add(table_.node_filter(node));
  return result;
}

std::vector<node_info> router::nodes() const {
  std::lock_guard turn{turn_};
  std::lock_guard lock{mutex_};
  const auto& next_links = network_.next_hops();
  std::vector<node_info> result;
  network_.visit_nodes([&](const endpoint_id& id, bool relays, const auto& links) {
    const auto path = next_links.find(id);
    result.push_back({id,
                      path == next_links.end() ? endpoint_id{} : path->second,
                      {links.begin(), links.end()},
                      relays,
                      table_.node_filter(id)});
  });
  return result;
}

filter router::announcement_for(const endpoint_id& peer) const {
  std::lock_guard turn{turn_};
  std::lock_guard lock{mutex_};
  if (const auto found = broker_peers_.find(peer);
      found != broker_peers_.end() && !found->second.spoken_for)
    return {};
  const auto& within_reach = network_.next_hops();
  return table_.announcement_for(peer,
                                 [&](const auto& node) { return within_reach.contains(node); });
}

/// The link towards each node within reach; called with the mutex held.
const std::shared_ptr<const router::directory>& router::next_links() const {
  if (next_links_version_ != network_.links_version()) {
    auto fresh = std::make_shared<directory>();
    for (const auto& [node, hop] : network_.next_hops())
      if (const auto via = neighbours_.find(hop); via != neighbours_.end())
        fresh->emplace(node, via->second);
    next_links_ = std::move(fresh);
    next_links_version_ = network_.links_version();
  }
  return next_links_;
}

std::shared_ptr<const routing_snapshot> router::snapshot() const {
  std::lock_guard lock{mutex_};
  if (!snapshot_)
    snapshot_ = std::make_shared<const routing_snapshot>(
        routing_snapshot{table_.local_index(), table_.remote_index(), table_.numbers(), spoken_for_,
                         next_links(), left_to_others_, circles_.closed()});
  return snapshot_;
}

/// Called with the mutex held.
std::size_t router::count_here(std::string_view topic) const {
  std::vector<const prefix_index<endpoint_id>::target*> found;
  table_.remote_index().match(topic, found);
  const auto remote = std::ranges::count_if(found, [&](const auto* each) {
    return spoken_for_->contains(each->exit) || next_links()->contains(each->exit);
  });
  return table_.local_index().count(topic) + static_cast<std::size_t>(remote);
}

std::size_t router::count(std::string_view topic) const {
  std::lock_guard lock{mutex_};
  return count_here(topic);
}

bool router::wait_for(std::string_view topic, std::size_t n,
                      std::chrono::nanoseconds timeout) const {
  const auto until = deadline_after(timeout);
  std::unique_lock lock{mutex_};
  auto enough = [&] { return count_here(topic) >= n; };
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

// -- telling -------------------------------------------------------------------------------------

/// Only turn_ is held: publishers go on meanwhile.
void router::tell() {
  tell_network();
  tell_broker_peers();
}

void router::tell_network() {
  for (const auto& [to, what] : network_.take_messages()) {
    const auto frame = std::visit([](const auto& x) { return wire::make_report(x); }, *what);
    for (const auto& id : to)
      if (const auto found = neighbours_.find(id); found != neighbours_.end())
        push_news(*found->second, frame);
  }
}

void router::tell_broker_peers() {
  const auto outdated = table_.take_outdated();
  if (outdated.empty())
    return;
  std::unique_lock lock{mutex_}; // next_hops() may compute
  const auto within_reach = network_.next_hops();
  lock.unlock();
  for (const auto& id : outdated) {
    auto& peer = broker_peers_.at(id);
    auto current = !peer.spoken_for ? filter{} : table_.announcement_for(id, [&](const auto& node) {
      return within_reach.contains(node);
    });
    if (current == peer.announced)
      continue;
    push_news(*peer.via, wire::make_routing_update(self_, id, current));
    peer.announced = std::move(current);
  }
}

} // namespace pubsub
