// SPDX-License-Identifier: BSD-3-Clause
#include "pattern/versioned/protocol/group_membership.hpp"

namespace pubsub::pattern {

group_membership::group_membership(replica_context& self, time_point now)
    : self_(self), epoch_(self.epoch), list_(epoch_.list), in_force_(list_.members),
      next_join_(now) {
  const auto& log = self_.log;
  start_ = {epoch_, self_.options.group_size, log.commit(), log.end(), log.epochs(epoch_.number)};
  self_.port.to_replicas(start_);
  check_list();
}

bool group_membership::tick(time_point now) {
  const auto* awaited = self_.log.find(self_.log.here() + 1);
  const bool leads = epoch_.leads();
  if (is_overtaken(now) ||
      (leads && awaited != nullptr && now - awaited->since > self_.options.liveness_timeout / 2))
    return false;
  if (!leads) {
    self_.port.to_replicas(start_);
    return true;
  }
  if (is_joining() && now >= joining_until_)
    joining_ = {};
  if (!epoch_.list_pending() && !strike_off_lost(now) && !is_joining() && now >= next_join_)
    let_join(now);
  return true;
}

/// A member that has promised a later epoch may have stopped following for good.
bool group_membership::is_overtaken(time_point now) {
  const auto promised_later = [&](const auto* each) {
    return contains(list_.members, each->replica) && each->at.group == epoch_.group &&
           each->at.promised > epoch_.number;
  };
  if (!std::ranges::any_of(self_.others.alive(now), promised_later))
    overtaken_since_.reset();
  else if (!overtaken_since_)
    overtaken_since_ = now;
  return overtaken_since_ && now - *overtaken_since_ > 2 * tuning::between_statuses(self_.options);
}

bool group_membership::strike_off_lost(time_point now) {
  auto left = list_.members;
  const auto lost = std::ranges::find_if(
      left, [&](const auto& each) { return !self_.others.is_alive(each, now); });
  if (lost == left.end() || left.size() <= majority(self_.options.group_size))
    return false;
  left.erase(lost);
  if (self_.others.count_alive(left, now) < majority(left.size()))
    return false; // they could never decide it
  change(std::move(left));
  return true;
}

void group_membership::let_join(time_point now) {
  for (const auto& [id, its] : progress_)
    if (its.held + tuning::close_behind >= self_.log.end() && may_join(id, now)) {
      joining_ = id;
      joining_until_ = now + tuning::longest_barrier;
      next_join_ = now + tuning::between_barriers;
      check_barrier(now);
      return;
    }
}

/// A replica does not join under the name of a member that is alive; where that member is lost, not
/// before it is struck off, if it can be.
bool group_membership::may_join(const endpoint_id& id, time_point now) const {
  const auto& others = self_.others;
  const auto& members = list_.members;
  const auto* status = others.status_of(id);
  if (status == nullptr || contains(members, id) || !others.is_alive(id, now) ||
      status->at.group != epoch_.group || status->at.number != epoch_.number ||
      status->name == self_.name)
    return false;
  return std::ranges::none_of(members, [&](const auto& each) {
    const auto* its = others.status_of(each);
    return its != nullptr && its->name == status->name &&
           (others.is_alive(each, now) || members.size() > majority(self_.options.group_size));
  });
}

/// The joining replica must hold all that any member holds; so nothing new comes until it does.
void group_membership::check_barrier(time_point now) {
  if (!is_joining() || epoch_.list_pending() || progress_[joining_].held < self_.log.end())
    return;
  auto members = list_.members;
  members.push_back(std::exchange(joining_, {}));
  next_join_ = now;
  change(std::move(members));
}

void group_membership::change(id_list members) {
  epoch_.learn({epoch_.number, list_.number + 1, std::move(members)});
  start_.at = epoch_;
  changed_ = true;
  check_list();
}

/// A list is in force once more than half of its members know it.
void group_membership::check_list() {
  if (!epoch_.list_pending())
    return;
  progress_[self_.id].config = list_.number;
  const auto knowing =
      count_of(list_.members, [&](const auto& id) { return progress_[id].config >= list_.number; });
  if (knowing < majority(list_.members.size()))
    return;
  epoch_.decide(list_.number);
  in_force_ = list_.members;
  changed_ = true;
}

void group_membership::hear(const held_message& x, time_point now) {
  auto& its = progress_[x.replica];
  its.held = std::max(its.held, x.held);
  its.config = std::max(its.config, x.config);
  check_list();
  check_barrier(now);
}

void group_membership::invite(const status_message& x) {
  const bool behind = x.at.group.is_nil() || x.at.number < epoch_.number;
  if (behind && (epoch_.leads() || contains(list_.members, x.replica)))
    self_.port.to_replica(x.replica, start_);
}

std::uint64_t group_membership::held_by_all() {
  auto all = self_.log.here();
  for (const auto* each : {&std::as_const(in_force_), &list_.members})
    for (const auto& id : *each)
      if (id != self_.id)
        all = std::min(all, progress_[id].held);
  return all;
}

} // namespace pubsub::pattern
