#include "pattern/versioned/client_window.hpp"

#include <algorithm>

namespace pubsub::pattern {

namespace {

using namespace std::chrono_literals;

constexpr auto client_tick = 50ms;
constexpr auto time_between_hellos = 100ms;
constexpr auto time_to_doubt = 1s; // a leader that says nothing
constexpr auto time_to_forget = 3s;
constexpr auto time_to_repeat = 200ms; // doubled with every time
constexpr unsigned most_doublings = 4;
constexpr auto time_to_retry = 1ms;          // what a link did not take
constexpr std::size_t most_messages = 1'000; // in a batch
constexpr std::size_t most_bytes = 64 * 1024;
constexpr std::size_t most_under_way = 16;      // batches
constexpr std::size_t most_small_under_way = 2; // a third waits for company
constexpr std::size_t most_spare = 8;

} // namespace

client_window::client_window(const endpoint_id& id, std::string group_name,
                             const versioned_group_options& options, versioned_port& port, time now)
    : id_(id), group_name_(std::move(group_name)), options_(options), port_(port), next_hello_(now),
      next_tick_(now) {}

// -- sending -------------------------------------------------------------------------------------

std::uint64_t client_window::add(std::span<const std::byte> value, time now) {
  if (open_ && is_full(*open_))
    close_open();
  if (!open_) {
    open_.emplace();
    open_->first = next_number_;
    open_->made = now;
    if (!spare_.empty()) {
      open_->values = std::move(spare_.back());
      spare_.pop_back();
    }
  }
  open_->values.write_encoded(value);
  ++open_->count;
  ++in_flight_;
  bytes_ += value.size();
  ++counters_.sent;
  return next_number_++;
}

void client_window::flush(time now) {
  flush_ = open_.has_value();
  send_what_is_due(now);
}

bool client_window::is_full(const batch& x) const noexcept {
  return x.count >=
             std::min(most_messages, std::max<std::size_t>(options_.window_messages / 2, 1)) ||
         x.values.size_bytes() >= most_bytes;
}

bool client_window::is_ready() const noexcept {
  const auto* members = list(decided_);
  return members != nullptr && members->size() >= options_.replicas && !leader_.is_nil();
}

/// A client of `version_request` has one batch under way: a number that is given and not used stops
/// all.
std::size_t client_window::limit_for(const batch& x) const noexcept {
  if (options_.scheme == versioning::version_request)
    return 1;
  return is_full(x) || flush_ ? most_under_way : most_small_under_way;
}

void client_window::close_open() {
  batches_.push_back(std::move(*open_));
  open_.reset();
  flush_ = false;
}

void client_window::send_what_is_due(time now) {
  if (under_way_ < batches_.size() && is_ready())
    for (auto& each : batches_) {
      if (each.sent)
        continue;
      if (under_way_ >= limit_for(each))
        break;
      transmit(each, now);
      if (!each.sent)
        return;
    }
  if (open_ && under_way_ == batches_.size() && under_way_ < limit_for(*open_) && is_ready()) {
    close_open();
    transmit(batches_.back(), now);
  }
}

void client_window::transmit(batch& what, time now) {
  if (!send_first(what)) {
    next_tick_ = std::min<time>(next_tick_, now + time_to_retry);
    return;
  }
  under_way_ += what.sent ? 0 : 1;
  counters_.batches += 1;
  counters_.resent += what.ever_sent ? 1 : 0;
  what.sent = what.ever_sent = true;
  what.sent_at = now;
  next_tick_ = std::min<time>(next_tick_, now + time_to_repeat);
}

bool client_window::send_first(const batch& what) {
  const value_list values{what.count, what.values.bytes()};
  const auto settled = batches_.front().first;
  switch (options_.scheme) {
  case versioning::none:
    return port_.to_replicas(encoded(plain_message{id_, what.first, values}));
  case versioning::version_request:
    return port_.to_replica(leader_,
                            encoded(request_message{group_, id_, settled, what.first, what.count}));
  case versioning::tagged:
    return port_.to_replicas(
        encoded(tagged_message{group_, id_, settled, what.first, leader_, values}));
  default:
    return port_.to_replica(
        leader_, encoded(submit_message{group_, id_, settled, what.first,
                                        static_cast<std::uint64_t>(options_.scheme), values}));
  }
}

/// Its version is known: to all, or to those that do not have it. What is lost is asked for again.
void client_window::send_stamped(batch& what) {
  constexpr auto wishes = static_cast<std::uint64_t>(record_wish::ack_client) |
                          static_cast<std::uint64_t>(record_wish::from_client);
  const auto message = encoded(
      record_message{group_, epoch_, 0, wishes, id_, what.run, {what.count, what.values.bytes()}});
  if (options_.scheme == versioning::version_request) {
    port_.to_replicas(message);
    return;
  }
  if (!lists_.empty())
    for (const auto& each : lists_.rbegin()->second)
      if (each != leader_)
        port_.to_replica(each, message);
}

// -- hearing -------------------------------------------------------------------------------------

void client_window::receive(const data_message& msg, time now) {
  const auto value = get_view(msg);
  switch (versioned_kind(value)) {
  case status_message::kind:
    if (const auto x = parse_message<status_message>(value))
      hear(*x, now);
    break;
  case granted_message::kind:
    if (const auto x = parse_message<granted_message>(value))
      hear(*x);
    break;
  case ack_message::kind:
    if (const auto x = parse_message<ack_message>(value))
      hear(*x);
    break;
  case done_message::kind:
    if (const auto x = parse_message<done_message>(value))
      for (const auto& run : x->runs)
        if (auto* known = find(run.client_first); known != nullptr && known->count == run.count)
          finish(*known, run.at, {});
    break;
  default:
    break;
  }
}

client_window::batch* client_window::find(std::uint64_t first) {
  const auto found = std::ranges::lower_bound(batches_, first, {}, &batch::first);
  return found != batches_.end() && found->first == first ? &*found : nullptr;
}

void client_window::hear(const status_message& x, time now) {
  replicas_[x.replica] = {x, now};
  if (!x.leads || failure_)
    return;
  if (!group_.is_nil() && x.group != group_) {
    if (now - leader_heard_ <= time_to_forget)
      return;
    if (next_number_ > 1)
      failure_ = {errc::logic_error,
                  "the replicas of '" + group_name_ + "' have lost what they held, and begun anew"};
    epoch_ = 0;
  }
  if (x.epoch < epoch_)
    return;
  if (x.epoch > epoch_)
    begin_epoch(x);
  leader_heard_ = now;
  decided_ = std::max(decided_, x.decided);
  lists_[x.config] = x.members;
  while (lists_.size() > 64 && lists_.begin()->first < decided_)
    lists_.erase(lists_.begin());
  finish_held();
  send_what_is_due(now);
}

/// What is not acknowledged goes to another leader, or to the same once more.
void client_window::begin_epoch(const status_message& x) {
  group_ = x.group;
  epoch_ = x.epoch;
  leader_ = x.replica;
  lists_.clear();
  decided_ = 0;
  for (auto& each : batches_) {
    each.sent = each.granted = false;
    each.run = {};
    each.acks.clear();
    each.tries = 0;
  }
  under_way_ = 0;
}

void client_window::hear(const granted_message& x) {
  if (x.epoch != epoch_ || x.replica != leader_)
    return;
  for (const auto& run : x.runs) {
    auto* known = find(run.client_first);
    if (known == nullptr || known->count != run.count || !known->sent)
      continue;
    known->granted = true;
    known->run = run;
    if (x.holds && !contains(known->acks, leader_))
      known->acks.push_back(leader_);
    send_stamped(*known);
  }
  finish_held();
}

void client_window::hear(const ack_message& x) {
  const bool unversioned = options_.scheme == versioning::none;
  if (!unversioned && x.epoch != epoch_)
    return;
  for (const auto& run : x.runs) {
    auto* known = find(run.client_first);
    if (known == nullptr || known->count != run.count || !known->sent)
      continue;
    known->run = run;
    if (!contains(known->acks, x.replica))
      known->acks.push_back(x.replica);
    if (unversioned ? is_held_unversioned(*known) : is_held(*known))
      finish(*known, run.at, {});
  }
}

const id_list* client_window::list(std::uint64_t config) const {
  const auto found = lists_.find(config);
  return found == lists_.end() ? nullptr : &found->second;
}

/// All hold it that counted when it was stamped, and count still. Who stamped it with its values
/// has them, so that any other's word is his, too.
bool client_window::is_held(const batch& what) const {
  const auto* now = list(decided_);
  const auto* then = list(what.run.config);
  if (now == nullptr || what.run.config > decided_ || what.acks.empty() || what.run.at.number == 0)
    return false;
  const bool implied = options_.scheme != versioning::version_request &&
                       (what.acks.size() > 1 || what.acks.front() != leader_);
  return std::ranges::all_of(then == nullptr ? *now : *then, [&](const auto& each) {
    return !contains(*now, each) || contains(what.acks, each) || (implied && each == leader_);
  });
}

bool client_window::is_held_unversioned(const batch& what) const {
  const auto* now = list(decided_);
  return now != nullptr &&
         std::ranges::all_of(*now, [&](const auto& each) { return contains(what.acks, each); });
}

/// Where more is known of the members than before.
void client_window::finish_held() {
  for (std::size_t i = 0; i < batches_.size();) {
    auto& each = batches_[i];
    const bool held = options_.scheme == versioning::none
                          ? each.sent && !each.acks.empty() && is_held_unversioned(each)
                          : is_held(each);
    if (held)
      finish(each, each.run.at, {});
    else
      ++i;
  }
}

// -- what became of it ---------------------------------------------------------------------------

/// `what` is one of `batches_`, and goes.
void client_window::finish(batch& what, const message_version& at, error why) {
  const auto place = std::ranges::lower_bound(batches_, what.first, {}, &batch::first);
  in_flight_ -= what.count;
  bytes_ -= what.values.size_bytes();
  (why ? counters_.failed : counters_.acknowledged) += what.count;
  under_way_ -= what.sent ? 1 : 0;
  finished_.push_back({what.first, what.count, at, std::move(why)});
  if (spare_.size() < most_spare) {
    what.values.clear();
    spare_.push_back(std::move(what.values));
  }
  batches_.erase(place);
}

void client_window::tick(time now) {
  next_tick_ = now + client_tick;
  const bool known = !leader_.is_nil() && now - leader_heard_ < time_to_doubt;
  if (!known && now >= next_hello_) {
    port_.to_everyone(encoded(hello_message{id_}));
    next_hello_ = now + time_between_hellos;
  }
  give_up(now);
  for (auto& each : batches_) {
    const auto patience = time_to_repeat * (1U << std::min(each.tries, most_doublings));
    if (!each.sent || now - each.sent_at < patience || !is_ready())
      continue;
    ++each.tries;
    transmit(each, now);
  }
  send_what_is_due(now);
  std::erase_if(replicas_,
                [&](const auto& each) { return now - each.second.heard > 20 * time_to_forget; });
}

void client_window::give_up(time now) {
  if (open_ && now - open_->made >= options_.timeout)
    close_open();
  while (!batches_.empty() && now - batches_.front().made >= options_.timeout) {
    auto& oldest = batches_.front();
    error why{oldest.ever_sent ? errc::request_timeout : errc::peer_unavailable,
              explain(oldest, now)};
    finish(oldest, {}, std::move(why));
  }
  if (!batches_.empty())
    next_tick_ = std::min<time>(next_tick_, batches_.front().made + options_.timeout);
  else if (open_)
    next_tick_ = std::min<time>(next_tick_, open_->made + options_.timeout);
}

std::string client_window::explain(const batch& what, time now) const {
  const std::string fate = what.ever_sent ? "; it may have been taken" : "; it was not sent";
  std::size_t here = 0;
  std::size_t planned = 0;
  for (const auto& [id, each] : replicas_)
    if (now - each.heard <= time_to_forget) {
      ++here;
      planned = std::max<std::size_t>(planned, each.status.group_size);
    }
  if (here == 0)
    return "no replica of '" + group_name_ + "' is within reach" + fate;
  const auto count = replicas(now);
  const auto needed = std::max(options_.replicas, majority(planned));
  if (count < needed)
    return std::to_string(count) + " of " + std::to_string(std::max(planned, options_.replicas)) +
           " replicas of '" + group_name_ + (count == 1 ? "' counts, " : "' count, ") +
           std::to_string(needed) + " are needed" + fate;
  std::string missing;
  if (const auto* members = list(decided_))
    for (const auto& each : *members)
      if (!contains(what.acks, each))
        missing += (missing.empty() ? "" : ", ") + name_of(each);
  return "not acknowledged by " + (missing.empty() ? "the leader" : missing) + fate;
}

std::string client_window::name_of(const endpoint_id& id) const {
  const auto found = replicas_.find(id);
  return found == replicas_.end() ? to_string(id) : "'" + found->second.status.name + "'";
}

/// Where nobody stamps, the others that say they count.
std::size_t client_window::replicas(time now) const {
  const auto leader = replicas_.find(leader_);
  const auto* members = list(decided_);
  if (leader != replicas_.end() && members != nullptr && now - leader_heard_ <= time_to_forget)
    return std::min<std::size_t>(leader->second.status.live, members->size());
  return static_cast<std::size_t>(std::ranges::count_if(replicas_, [&](const auto& each) {
    return each.second.status.counts && now - each.second.heard <= time_to_forget;
  }));
}

std::vector<endpoint_id> client_window::known_replicas() const {
  std::vector<endpoint_id> result;
  for (const auto& [id, each] : replicas_)
    result.push_back(id);
  return result;
}

void client_window::lose(const endpoint_id& replica) {
  if (replica == leader_)
    leader_heard_ = {};
}

} // namespace pubsub::pattern
