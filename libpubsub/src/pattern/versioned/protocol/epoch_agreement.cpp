// SPDX-License-Identifier: BSD-3-Clause
#include "pattern/versioned/protocol/epoch_agreement.hpp"

namespace pubsub::pattern {

void epoch_agreement::tick(time_point now) {
  if (state_.role == replica_role::candidate && now < run_until_)
    return;
  state_.role = replica_role::follower;
  if (state_.group.is_nil())
    look_for_group(now);
  else
    look_for_leader(now);
}

/// A replica that is alive belongs to a group.
bool epoch_agreement::knows_group(time_point now) const {
  return std::ranges::any_of(self_.others.alive(now),
                             [](const auto* each) { return !each->at.group.is_nil(); });
}

/// A new group begins once all replicas that it was planned with are there and none of them
/// belongs to a group: then none has a past that could be lost. The one with the smallest id runs.
void epoch_agreement::look_for_group(time_point now) {
  if (now - begun_ < tuning::between_statuses(self_.options) || knows_group(now))
    return; // the leader of a group that is known invites this replica
  id_list all{self_.id};
  for (const auto* each : self_.others.alive(now))
    if (each->name != self_.name && each->group_size == self_.options.group_size)
      all.push_back(each->replica);
  std::ranges::sort(all);
  if (all.size() < self_.options.group_size || all.front() != self_.id)
    return;
  all.resize(self_.options.group_size);
  first_members_ = std::move(all);
  promised_group_ = endpoint_id::random();
  run(now);
}

bool epoch_agreement::leader_is_alive(time_point now) const {
  if (state_.leader == self_.id)
    return state_.leads();
  return state_.is_current() && !self_.others.is_gone(state_.leader) &&
         now - self_.leader_heard <= self_.options.liveness_timeout;
}

/// Members run one after the other, by id, so that few elections have two candidates.
void epoch_agreement::look_for_leader(time_point now) {
  const auto turn = tuning::election(self_.options);
  const bool waits = !state_.is_current() && now - self_.leader_heard <= 2 * turn;
  if (!self_.is_member() || leader_is_alive(now) || waits) {
    run_at_.reset();
    return;
  }
  if (!run_at_) {
    const auto before = count_of(state_.list.members, [&](const auto& each) {
      return each < self_.id && each != state_.leader && self_.others.is_alive(each, now);
    });
    run_at_ = now + turn * (before + (runs_ > 0 ? 1 : 0));
  }
  if (now >= *run_at_)
    run(now);
}

void epoch_agreement::run(time_point now) {
  const bool first = state_.group.is_nil();
  state_.role = replica_role::candidate;
  const auto& members = first ? first_members_ : state_.list.members;
  for (const auto each : self_.others.promises_of(members))
    state_.promised = is_next(each) ? each : state_.promised;
  ++state_.promised;
  state_.promised_to = self_.id;
  run_until_ = now + tuning::election(self_.options);
  run_at_.reset();
  ++runs_;
  promises_.clear();
  promises_[self_.id] = state_.list;
  self_.port.to_replicas(prepare_message{group_to_lead(), self_.id, state_.promised,
                                         first ? first_members_ : id_list{}});
  count_promises();
}

/// The promise is not given away from a leader that is alive, unless to that leader.
bool epoch_agreement::accept(const prepare_message& x, time_point now) {
  const bool again = x.epoch == state_.promised && state_.promised_to == x.candidate;
  if (x.candidate == self_.id || (!is_next(x.epoch) && !again))
    return false;
  if (state_.group.is_nil()) {
    const bool of_new_group = contains(x.first_members, self_.id) &&
                              contains(x.first_members, x.candidate) && !knows_group(now);
    if (!of_new_group && (x.group != promised_group_ || !x.first_members.empty()))
      return false;
    promised_group_ = x.group;
  } else if (x.group != state_.group || !x.first_members.empty() ||
             !contains(state_.list.members, x.candidate) ||
             (!again && x.candidate != state_.leader && leader_is_alive(now))) {
    return false;
  }
  state_.role = replica_role::follower;
  state_.promised = x.epoch;
  state_.promised_to = x.candidate;
  run_at_.reset();
  self_.leader_heard = now;
  return true;
}

void epoch_agreement::hear(const status_message& x) {
  if (state_.role != replica_role::candidate || x.at.promised != state_.promised ||
      x.at.promised_to != self_.id)
    return;
  promises_[x.replica] = x.at.list;
  count_promises();
}

/// All members of a new group must promise; of an old one, more than half of the newest list that
/// any of them knows.
void epoch_agreement::count_promises() {
  const auto promised = [&](const id_list& all) {
    return count_of(all, [&](const auto& id) { return promises_.contains(id); });
  };
  if (state_.group.is_nil()) {
    if (promised(first_members_) == first_members_.size())
      win(first_members_);
    return;
  }
  auto newest = state_.list;
  for (const auto& [id, each] : promises_)
    if (each.newer_than(newest))
      newest = each;
  if (!contains(newest.members, self_.id))
    state_.role = replica_role::follower; // the others go on without this replica
  else if (promised(newest.members) >= majority(newest.members.size()))
    win(newest.members);
}

void epoch_agreement::win(const id_list& members) {
  const auto epoch = state_.promised;
  state_ = {group_to_lead(),     epoch, self_.id, epoch, self_.id, replica_role::leader,
            {epoch, 1, members}, 0};
  runs_ = 0;
}

bool epoch_agreement::may_follow(const start_message& x, time_point now) const {
  const bool later = x.at.number == state_.promised || is_next(x.at.number);
  return x.at.leader != self_.id && later &&
         (state_.group.is_nil() || (x.at.group == state_.group && is_credible(x.at, now)));
}

/// Numbers of epochs rise in small steps: none can use them up.
bool epoch_agreement::is_next(std::uint64_t epoch) const noexcept {
  return epoch > state_.promised && epoch - state_.promised <= tuning::most_epochs_ahead;
}

/// A leader is one of the members that this replica knows, or one that such a member follows. Where
/// most of those are gone, the group may have gone on with others meanwhile.
bool epoch_agreement::is_credible(const epoch_state& at, time_point now) const {
  const auto& members = state_.list.members;
  const auto follows = [&](const auto* each) {
    return contains(members, each->replica) && each->at.number == at.number &&
           each->at.leader == at.leader;
  };
  return contains(members, at.leader) || std::ranges::any_of(self_.others.alive(now), follows) ||
         self_.others.count_alive(members, now) < majority(members.size());
}

bool epoch_agreement::follow(const start_message& x, time_point now) {
  const bool is_new = x.at.number != state_.number;
  if (is_new)
    state_ = x.at;
  state_.learn(x.at.list);
  run_at_.reset();
  runs_ = 0;
  self_.leader_heard = now;
  return is_new;
}

} // namespace pubsub::pattern
