// SPDX-License-Identifier: BSD-3-Clause
#include "pattern/versioned/protocol/client_window.hpp"

namespace pubsub::pattern {

// -- sending -------------------------------------------------------------------------------------

std::uint64_t client_window::add(std::span<const std::byte> value, time_point now) {
  if (batches_.empty() || batches_.back().ever_sent || is_full(batches_.back())) {
    auto& fresh = batches_.emplace_back();
    fresh.first = next_number_;
    fresh.made = now;
    if (!spare_.empty()) {
      fresh.values = std::move(spare_.back());
      spare_.pop_back();
    }
  }
  auto& last = batches_.back();
  last.values.write_encoded(value);
  ++last.count;
  ++in_flight_;
  bytes_ += value.size();
  ++counters_.sent;
  return next_number_++;
}

void client_window::send_pending(time_point now) {
  pending_below_ = next_number_;
  settle(now);
}

bool client_window::is_full(const batch& x) const noexcept {
  return x.count >= std::min(tuning::most_batch_messages,
                             std::max<std::size_t>(options_.window_messages / 2, 1)) ||
         x.values.size_bytes() >= tuning::most_batch_bytes;
}

bool client_window::is_ready() const noexcept {
  const auto* members = list(at_.decided);
  return members != nullptr && members->size() >= options_.replicas && !at_.leader.is_nil();
}

/// A client of `version_request` has one batch under way: a number that is given and not used holds
/// up everything that follows.
std::size_t client_window::limit_for(const batch& x) const noexcept {
  if (options_.scheme == versioning::version_request)
    return 1;
  return is_full(x) || x.first < pending_below_ ? tuning::most_under_way
                                                : tuning::most_small_under_way;
}

void client_window::settle(time_point now) {
  while (under_way_ < batches_.size() && under_way_ < limit_for(batches_[under_way_]) &&
         is_ready() && transmit(batches_[under_way_], now)) {
  }
}

bool client_window::transmit(batch& what, time_point now) {
  const auto scheme = options_.scheme;
  const bool request = scheme == versioning::version_request;
  const bool to_all = scheme == versioning::none || scheme == versioning::tagged;
  const submit_message x{at_.group,
                         id_,
                         at_.leader,
                         static_cast<std::uint64_t>(scheme),
                         batches_.front().first,
                         what.first,
                         what.count,
                         request ? value_list{} : value_list{what.count, what.values.bytes()}};
  const bool taken = to_all ? port_.to_replicas(x) : port_.to_replica(at_.leader, x);
  next_tick_ = std::min(next_tick_, now + (taken ? tuning::repeat_after : tuning::retry_after));
  if (!taken)
    return false;
  under_way_ += what.sent ? 0 : 1;
  counters_.batches += 1;
  counters_.resent += what.ever_sent ? 1 : 0;
  what.sent = what.ever_sent = true;
  what.sent_at = now;
  return true;
}

/// The versions are known: the messages go to all, or to those that do not have them. The client
/// asks again for what is lost.
void client_window::send_with_versions(const batch& what) {
  constexpr auto flags = record_flag::ack_client | record_flag::from_client;
  const auto message = port_.encoded(record_message{
      at_.group, at_.number, 0, flags, id_, what.run, {what.count, what.values.bytes()}});
  if (options_.scheme == versioning::version_request)
    port_.send(versioned_target::all_replicas, {}, message);
  else if (!lists_.empty())
    for (const auto& each : lists_.rbegin()->second)
      if (each != at_.leader)
        port_.send(versioned_target::replica, each, message);
}

// -- hearing -------------------------------------------------------------------------------------

void client_window::receive(const data_message& msg, time_point now) {
  if (const auto what = parse_message(get_view(msg)))
    std::visit(
        [&](const auto& x) {
          if constexpr (requires { x.from(); })
            if (speakers_.is_own_word(x.from(), msg, now))
              hear(x, now);
        },
        *what);
}

void client_window::hear(const status_message& x, time_point now) {
  replicas_.hear(x, now);
  if (!x.leads || failure_)
    return;
  if (!at_.group.is_nil() && x.at.group != at_.group) {
    if (now - leader_heard_ <= tuning::leader_memory)
      return;
    if (next_number_ > 1)
      failure_ = {errc::logic_error,
                  "the replicas of '" + group_name_ + "' have lost what they held, and begun anew"};
    at_.number = 0;
  }
  const auto* members = list(at_.list.number);
  const bool may_lead = at_.number == 0 || members == nullptr || contains(*members, x.replica) ||
                        now - leader_heard_ > tuning::leader_memory;
  if (x.at.number < at_.number || !may_lead)
    return;
  if (x.at.number > at_.number)
    begin_epoch(x);
  leader_heard_ = now;
  at_.decide(x.at.decided);
  lists_[x.at.list.number] = x.at.list.members;
  while (lists_.size() > tuning::most_lists && lists_.begin()->first < at_.decided)
    lists_.erase(lists_.begin());
  finish_held();
  settle(now);
}

/// What is not acknowledged goes to the new leader, which may be the old one.
void client_window::begin_epoch(const status_message& x) {
  at_ = x.at;
  lists_.clear();
  for (auto& each : batches_) {
    each.sent = false;
    each.run = {};
    each.acks.clear();
    each.tries = 0;
  }
  under_way_ = 0;
}

/// What is said of batches that are under way counts in its epoch; what all members hold, always.
void client_window::hear(const reply_message& x, time_point) {
  const bool by_all = x.is(reply::held_by_all);
  const bool numbered = x.is(reply::numbered) || x.is(reply::numbered_and_held);
  if (!by_all && ((options_.scheme != versioning::none && x.epoch != at_.number) ||
                  (numbered && x.replica != at_.leader)))
    return;
  for (const auto& run : x.runs) {
    const auto known = std::ranges::lower_bound(batches_, run.client_first, {}, &batch::first);
    if (known == batches_.end() || known->first != run.client_first || known->count != run.count)
      continue;
    if (by_all) {
      finish(known, run.at, {});
    } else if (known->sent) {
      known->run = run;
      if (!x.is(reply::numbered) && !contains(known->acks, x.replica))
        known->acks.push_back(x.replica);
      if (numbered)
        send_with_versions(*known);
    }
  }
  finish_held();
}

const id_list* client_window::list(std::uint64_t config) const {
  const auto found = lists_.find(config);
  return found == lists_.end() ? nullptr : &found->second;
}

/// All replicas hold it that were members when it got its versions, and still are. The leader that
/// gave them to the messages themselves holds it, so an acknowledgement of another implies its own.
bool client_window::is_held(const batch& what) const {
  const auto* now = list(at_.decided);
  if (what.acks.empty() || now == nullptr)
    return false;
  if (options_.scheme == versioning::none)
    return std::ranges::all_of(*now, [&](const auto& each) { return contains(what.acks, each); });
  const auto* then = list(what.run.config);
  if (what.run.config > at_.decided || what.run.at.number == 0)
    return false;
  const bool implied = options_.scheme != versioning::version_request &&
                       (what.acks.size() > 1 || what.acks.front() != at_.leader);
  return std::ranges::all_of(then == nullptr ? *now : *then, [&](const auto& each) {
    return !contains(*now, each) || contains(what.acks, each) || (implied && each == at_.leader);
  });
}

/// Called where more is known of the members than before.
void client_window::finish_held() {
  for (auto each = batches_.begin(); each != batches_.end();)
    each = each->sent && is_held(*each) ? finish(each, each->run.at, {}) : std::next(each);
}

// -- what became of it ---------------------------------------------------------------------------

/// Returns the next one.
client_window::batches::iterator client_window::finish(batches::iterator what,
                                                       const message_version& at, error why) {
  in_flight_ -= what->count;
  bytes_ -= what->values.size_bytes();
  (why ? counters_.failed : counters_.acknowledged) += what->count;
  under_way_ -= what->sent ? 1 : 0;
  finished_.push_back({what->first, what->count, at, std::move(why)});
  if (spare_.size() < tuning::most_spare) {
    what->values.clear();
    spare_.push_back(std::move(what->values));
  }
  return batches_.erase(what);
}

void client_window::tick(time_point now) {
  next_tick_ = now + tuning::client_tick;
  const bool known = !at_.leader.is_nil() && now - leader_heard_ < tuning::leader_doubt;
  if (!known && now >= next_hello_) {
    port_.to_everyone(hello_message{id_});
    next_hello_ = now + tuning::between_hellos;
  }
  give_up(now);
  for (auto& each : batches_) {
    const auto patience =
        tuning::repeat_after * (1U << std::min(each.tries, tuning::most_doublings));
    if (!each.sent || now - each.sent_at < patience || !is_ready())
      continue;
    ++each.tries;
    transmit(each, now);
  }
  settle(now);
  replicas_.forget_old({}, now);
}

void client_window::lose(const endpoint_id& replica) {
  replicas_.lose(replica);
  if (replica == at_.leader)
    leader_heard_ = {};
}

void client_window::give_up(time_point now) {
  while (!batches_.empty() && now - batches_.front().made >= options_.timeout) {
    const auto& oldest = batches_.front();
    const auto code = oldest.ever_sent ? errc::request_timeout : errc::peer_unavailable;
    finish(batches_.begin(), {}, {code, explain(oldest, now)});
  }
  if (!batches_.empty())
    next_tick_ = std::min<time_point>(next_tick_, batches_.front().made + options_.timeout);
}

std::string client_window::explain(const batch& what, time_point now) const {
  const std::string fate = what.ever_sent ? "; it may have been taken" : "; it was not sent";
  const auto here = replicas_.alive(now);
  if (here.empty())
    return "no replica of '" + group_name_ + "' is within reach" + fate;
  std::size_t planned = 0;
  for (const auto* each : here)
    planned = std::max<std::size_t>(planned, each->group_size);
  const auto alive = replicas(now);
  const auto needed = std::max(options_.replicas, majority(planned));
  if (alive < needed)
    return std::to_string(alive) + " of " + std::to_string(std::max(planned, options_.replicas)) +
           " replicas of '" + group_name_ + (alive == 1 ? "' is a member, " : "' are members, ") +
           std::to_string(needed) + " are needed" + fate;
  std::string missing;
  if (const auto* members = list(at_.decided))
    for (const auto& each : *members)
      if (!contains(what.acks, each)) {
        const auto* its = replicas_.status_of(each);
        missing += missing.empty() ? "" : ", ";
        missing += its == nullptr ? to_string(each) : "'" + its->name + "'";
      }
  return "not acknowledged by " + (missing.empty() ? "the leader" : missing) + fate;
}

/// Without a leader, the replicas that call themselves members.
std::size_t client_window::replicas(time_point now) const {
  const auto* leader = replicas_.status_of(at_.leader);
  const auto* members = list(at_.decided);
  if (leader != nullptr && members != nullptr && now - leader_heard_ <= tuning::leader_memory)
    return std::min<std::size_t>(leader->live, members->size());
  return count_of(replicas_.alive(now), [](const auto* each) { return each->is_member; });
}

} // namespace pubsub::pattern
