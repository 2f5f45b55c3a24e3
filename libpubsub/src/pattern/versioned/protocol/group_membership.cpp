#include "pattern/versioned/protocol/group_membership.hpp"

#include <algorithm>

namespace pubsub::pattern {

group_membership::group_membership(const endpoint_id& own, const std::string& own_name,
                                   const replica_options& options, epoch_agreement& epochs,
                                   const replica_directory& others, const replica_log& log,
                                   versioned_port& port, time now)
    : own_(own), own_name_(own_name), options_(options), epochs_(epochs), others_(others),
      log_(log), port_(port), in_force_(list().members), next_join_(now) {
  const auto& state = epochs_.state();
  start_ = {state.group,    own_,          options_.group_size, state.epoch,  list().number,
            list().members, log_.commit(), log_.end(),          log_.epochs()};
  port_.to_replicas(start_);
  check_list();
}

bool group_membership::tick(time now) {
  const auto* awaited = log_.awaited();
  const bool leads = epochs_.state().leads();
  if (is_overtaken(now) ||
      (leads && awaited != nullptr && now - awaited->since > options_.liveness_timeout / 2))
    return false;
  if (!leads) {
    port_.to_replicas(start_);
    return true;
  }
  if (is_joining() && now >= joining_until_)
    joining_ = {};
  if (!epochs_.state().list_pending() && !strike_off_lost(now) && !is_joining() &&
      now >= next_join_)
    let_join(now);
  return true;
}

/// The replica that has promised a later epoch may have stopped following for good.
bool group_membership::is_overtaken(time now) {
  const auto& state = epochs_.state();
  if (!others_.is_overtaken(state.group, state.epoch, now))
    overtaken_since_.reset();
  else if (!overtaken_since_)
    overtaken_since_ = now;
  return overtaken_since_ && now - *overtaken_since_ > 2 * tuning::between_statuses(options_);
}

bool group_membership::strike_off_lost(time now) {
  const auto& members = list().members;
  const auto lost =
      std::ranges::find_if(members, [&](const auto& each) { return !others_.is_alive(each, now); });
  if (lost == members.end() || members.size() <= majority(options_.group_size))
    return false;
  auto left = members;
  std::erase(left, *lost);
  if (others_.count_alive(left, now) < majority(left.size()))
    return false; // they could never decide it
  change(std::move(left));
  return true;
}

void group_membership::let_join(time now) {
  for (const auto& [id, its] : progress_)
    if (its.held + tuning::close_behind >= log_.end() && may_join(id, now)) {
      joining_ = id;
      joining_until_ = now + tuning::longest_barrier;
      next_join_ = now + tuning::between_barriers;
      check_barrier(now);
      return;
    }
}

/// A replica does not join under the name of a member that is alive; where that member is lost, not
/// before it is struck off, if it can be.
bool group_membership::may_join(const endpoint_id& id, time now) const {
  const auto* status = others_.status_of(id);
  if (status == nullptr || contains(list().members, id) || !others_.is_alive(id, now) ||
      status->group != epochs_.state().group || status->epoch != epochs_.state().epoch ||
      status->name == own_name_)
    return false;
  return std::ranges::none_of(list().members, [&](const auto& each) {
    const auto* its = others_.status_of(each);
    return its != nullptr && its->name == status->name &&
           (others_.is_alive(each, now) || list().members.size() > majority(options_.group_size));
  });
}

/// The joining replica must hold all that any member holds; so nothing new comes until it does.
void group_membership::check_barrier(time now) {
  if (!is_joining() || epochs_.state().list_pending() || progress_of(joining_).held < log_.end())
    return;
  auto members = list().members;
  members.push_back(std::exchange(joining_, {}));
  next_join_ = now;
  change(std::move(members));
}

void group_membership::change(id_list members) {
  epochs_.learn({epochs_.state().epoch, list().number + 1, std::move(members)});
  start_.config = list().number;
  start_.members = list().members;
  changed_ = true;
  check_list();
}

/// A list is in force once more than half of its members know it.
void group_membership::check_list() {
  if (!epochs_.state().list_pending())
    return;
  progress_[own_].config = list().number;
  const auto know = static_cast<std::size_t>(std::ranges::count_if(
      list().members, [&](const auto& id) { return progress_of(id).config >= list().number; }));
  if (know < majority(list().members.size()))
    return;
  epochs_.decide(list().number);
  in_force_ = list().members;
  changed_ = true;
}

void group_membership::hear(const held_message& x, time now) {
  auto& its = progress_[x.replica];
  its.held = std::max(its.held, x.held);
  its.config = std::max(its.config, x.config);
  check_list();
  check_barrier(now);
}

void group_membership::invite(const status_message& x) {
  const bool behind = x.group.is_nil() || x.epoch < epochs_.state().epoch;
  if (behind && (epochs_.state().leads() || contains(list().members, x.replica)))
    port_.to_replica(x.replica, start_);
}

group_membership::progress group_membership::progress_of(const endpoint_id& id) const {
  const auto found = progress_.find(id);
  return found == progress_.end() ? progress{} : found->second;
}

std::uint64_t group_membership::held_by_all() const {
  auto all = log_.here();
  for (const auto* each : {&in_force_, &list().members})
    for (const auto& id : *each)
      if (id != own_)
        all = std::min(all, progress_of(id).held);
  return all;
}

} // namespace pubsub::pattern
