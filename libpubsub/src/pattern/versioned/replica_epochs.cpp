// Who leads a group and who belongs to it (docs/decisions/019).
#include <algorithm>

#include "pattern/versioned/replica_books.hpp"

namespace pubsub::pattern {

namespace {

using namespace std::chrono_literals;

constexpr std::chrono::nanoseconds longest_between_statuses = 200ms;
constexpr std::chrono::nanoseconds shortest_between_statuses = 10ms;
constexpr std::chrono::nanoseconds shortest_run = 50ms; // until promises have come
constexpr std::chrono::nanoseconds longest_barrier = 500ms;
constexpr std::chrono::nanoseconds time_between_barriers = 1s;
constexpr std::uint64_t close_behind = 4'096; // somebody joins who lacks no more

std::chrono::nanoseconds time_between_statuses(const replica_options& options) {
  return std::clamp<std::chrono::nanoseconds>(options.silence / 5, shortest_between_statuses,
                                              longest_between_statuses);
}

/// How long a candidate waits for promises, and the next one for it.
std::chrono::nanoseconds time_of_a_run(const replica_options& options) {
  return std::max<std::chrono::nanoseconds>(options.silence / 8, shortest_run);
}

} // namespace

// -- others --------------------------------------------------------------------------------------

void replica_books::hear(const hello_message&, const data_message&, time now) {
  constexpr auto often_enough = 10ms;
  next_status_ = std::min<time>(next_status_, now + often_enough);
  next_tick_ = std::min(next_tick_, next_status_);
}

void replica_books::hear(const status_message& x, const data_message&, time now) {
  if (x.replica == id_)
    return;
  auto [found, added] = others_.try_emplace(x.replica);
  auto& its = found->second;
  its.status = x;
  its.heard = now;
  its.gone = false;
  if (added)
    its.first_heard = now;
  if (x.name == name_ && its.first_heard != now)
    contest_name(x, now);
  if (failure_ || group_.is_nil())
    return;
  if (!x.group.is_nil() && x.group != group_) {
    if (x.name != name_ && x.leads && (role_ != role::leader || x.group < group_))
      fail(errc::logic_error, "another group of this name has begun");
    return;
  }
  const bool behind = x.group.is_nil() || x.epoch < epoch_;
  if (role_ == role::leader && behind && (leads() || contains(config_.members, x.replica)))
    port_.to_replica(x.replica, encoded(start_));
  if (x.replica != leader_ || !x.leads || x.epoch != epoch_ || epoch_ != promised_)
    return;
  leader_heard_ = now;
  leader_end_ = std::max(leader_end_, x.held);
  decided_ = std::max(decided_, x.decided);
  hear_commit(x.commit);
  if (x.config > config_.number) {
    config_ = {epoch_, x.config, x.members};
    owe_ack(true, now);
  }
}

/// Of two replicas of a name the one that counts stays, or the older one; where they differ by less
/// than a message may take, the one with the smaller id.
void replica_books::contest_name(const status_message& x, time now) {
  const bool counts = state() == replica_state::counting;
  const auto age = std::chrono::duration_cast<std::chrono::milliseconds>(now - begun_).count();
  const auto its_age = static_cast<std::int64_t>(std::min<std::uint64_t>(x.age_ms, 1ULL << 60));
  const bool same_age = std::abs(age - its_age) < 1'000;
  const bool stays = counts != x.counts ? counts : same_age ? id_ < x.replica : age > its_age;
  if (!stays)
    fail(errc::invalid_argument,
         "another replica of this group is called '" + name_ + "': " + to_string(x.replica));
}

bool replica_books::lives(const endpoint_id& id, time now) const {
  if (id == id_)
    return true;
  const auto found = others_.find(id);
  return found != others_.end() && !found->second.gone &&
         now - found->second.heard <= options_.silence;
}

void replica_books::lose(const endpoint_id& replica) {
  if (const auto found = others_.find(replica); found != others_.end())
    found->second.gone = true;
}

void replica_books::excuse_silence(time now) {
  leader_heard_ = now;
  for (auto& [id, each] : others_)
    each.heard = now;
}

std::vector<endpoint_id> replica_books::others() const {
  std::vector<endpoint_id> result;
  for (const auto& [id, each] : others_)
    result.push_back(id);
  return result;
}

// -- status --------------------------------------------------------------------------------------

replica_state replica_books::state() const noexcept {
  if (failure_)
    return replica_state::closed;
  if (group_.is_nil())
    return replica_state::joining;
  const bool counts = is_member() && epoch_ == promised_ && role_ != role::candidate &&
                      (role_ != role::leader || started_);
  return counts ? replica_state::counting : replica_state::catching_up;
}

std::size_t replica_books::replicas() const noexcept {
  const auto now = last_tick_;
  return static_cast<std::size_t>(
      std::ranges::count_if(config_.members, [&](const auto& each) { return lives(each, now); }));
}

void replica_books::tell_status(time now) {
  next_status_ = now + time_between_statuses(options_);
  port_.to_everyone(encoded(status(now)));
  std::erase_if(others_, [&](const auto& each) {
    return now - each.second.heard > 30 * options_.silence &&
           !contains(config_.members, each.first);
  });
}

status_message replica_books::status(time now) const {
  status_message x;
  x.group = group_;
  x.replica = id_;
  x.name = name_;
  x.group_size = options_.group_size;
  x.age_ms = static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::milliseconds>(now - begun_).count());
  x.promised = promised_;
  x.epoch = epoch_;
  x.leads = leads();
  x.counts = state() == replica_state::counting;
  x.held = log_.end();
  x.commit = log_.commit();
  x.config = config_.number;
  x.decided = decided_;
  x.live = static_cast<std::uint64_t>(
      std::ranges::count_if(config_.members, [&](const auto& each) { return lives(each, now); }));
  if (role_ == role::leader)
    x.members = config_.members;
  return x;
}

// -- a new group ---------------------------------------------------------------------------------

/// Those that have never belonged to a group of this name, in the order of their ids.
id_list replica_books::fresh_ones(time now) const {
  id_list result{id_};
  for (const auto& [id, each] : others_)
    if (lives(id, now) && each.status.group.is_nil() && each.status.name != name_ &&
        each.status.group_size == options_.group_size)
      result.push_back(id);
  std::ranges::sort(result);
  return result;
}

bool replica_books::knows_group(time now) const {
  return std::ranges::any_of(others_, [&](const auto& each) {
    return lives(each.first, now) && !each.second.status.group.is_nil();
  });
}

/// All that the group was planned with are there, and none of them has a past: so there is none.
void replica_books::look_for_group(time now) {
  if (now - begun_ < time_between_statuses(options_) ||
      (role_ == role::candidate && now < run_until_))
    return;
  role_ = role::follower;
  if (knows_group(now))
    return; // its leader will invite us
  auto all = fresh_ones(now);
  if (all.size() < options_.group_size || all.front() != id_)
    return;
  all.resize(options_.group_size);
  first_members_ = std::move(all);
  promised_group_ = endpoint_id::random();
  run_for(highest_epoch() + 1, now);
}

// -- running -------------------------------------------------------------------------------------

std::uint64_t replica_books::highest_epoch() const {
  auto result = promised_;
  for (const auto& [id, each] : others_)
    result = std::max(result, each.status.promised);
  return result;
}

void replica_books::step_down() {
  role_ = role::follower;
  started_ = false;
  joins_ = {};
  held_back_.clear();
  want_snapshot_.clear();
  commit_owed_.reset();
  overtaken_since_.reset();
}

void replica_books::run_for(std::uint64_t epoch, time now) {
  step_down();
  role_ = role::candidate;
  promised_ = epoch;
  promised_to_ = id_;
  run_until_ = now + time_of_a_run(options_);
  run_at_.reset();
  ++runs_;
  promises_.clear();
  promises_[id_] = config_;
  const bool first = group_.is_nil();
  port_.to_replicas(encoded(prepare_message{first ? promised_group_ : group_, id_, promised_,
                                            first ? first_members_ : id_list{}}));
  count_promises(now);
}

/// A promise is not given away from a leader that lives, unless to itself.
void replica_books::hear(const prepare_message& x, const data_message&, time now) {
  const bool again = x.epoch == promised_ && promised_to_ == x.candidate;
  if (x.candidate == id_ || (x.epoch <= promised_ && !again))
    return;
  if (group_.is_nil()) {
    const bool of_new_one = contains(x.first_members, id_) && !knows_group(now);
    if (!of_new_one && (x.group != promised_group_ || !x.first_members.empty()))
      return;
    promised_group_ = x.group;
  } else if (x.group != group_ || !x.first_members.empty() ||
             (!again && x.candidate != leader_ && leader_lives(now))) {
    return;
  }
  step_down();
  promised_ = x.epoch;
  promised_to_ = x.candidate;
  run_at_.reset();
  leader_heard_ = now;
  tell_status(now);
  port_.to_replica(x.candidate, encoded(promise_message{x.group, id_, promised_, config_.epoch,
                                                        config_.number, config_.members}));
}

void replica_books::hear(const promise_message& x, const data_message&, time now) {
  if (role_ != role::candidate || x.epoch != promised_ ||
      x.group != (group_.is_nil() ? promised_group_ : group_))
    return;
  promises_[x.replica] = {x.config_epoch, x.config, x.members};
  if (const auto found = others_.find(x.replica); found != others_.end())
    found->second.heard = now;
  count_promises(now);
}

/// Of a new group all must agree; else more than half of the newest list anybody knows.
void replica_books::count_promises(time now) {
  const auto promised = [&](const id_list& all) {
    return static_cast<std::size_t>(
        std::ranges::count_if(all, [&](const auto& id) { return promises_.contains(id); }));
  };
  if (group_.is_nil()) {
    if (promised(first_members_) == first_members_.size())
      lead({0, 0, first_members_}, now);
    return;
  }
  auto newest = config_;
  for (const auto& [id, each] : promises_)
    if (each.newer_than(newest))
      newest = each;
  if (!contains(newest.members, id_))
    role_ = role::follower; // others go on without us
  else if (promised(newest.members) >= majority(newest.members.size()))
    lead(std::move(newest), now);
}

// -- leading -------------------------------------------------------------------------------------

void replica_books::lead(member_list members, time now) {
  if (group_.is_nil())
    group_ = promised_group_;
  role_ = role::leader;
  started_ = false;
  runs_ = 0;
  epoch_ = promised_;
  leader_ = id_;
  config_ = {epoch_, 1, std::move(members.members)};
  decided_ = 0;
  decided_members_ = config_.members;
  log_.close_gaps(epoch_);
  stamps_.clear();
  acks_.clear();
  progress_.clear();
  progress_[id_] = {log_.here(), config_.number};
  forwarded_ = log_.end();
  next_join_ = now;
  start_ = {group_,          id_,           options_.group_size, epoch_,       config_.number,
            config_.members, log_.commit(), log_.end(),          log_.epochs()};
  ++counters_.elections;
  port_.to_replicas(encoded(start_));
  check_members(now);
}

/// What is above the leader's commit may differ; what is below, members hold.
void replica_books::hear(const start_message& x, const data_message&, time now) {
  if (x.leader == id_ || x.epoch < promised_ || (!group_.is_nil() && x.group != group_))
    return;
  if (x.group_size != options_.group_size) {
    fail(errc::invalid_argument, "this group has a size of " + std::to_string(x.group_size) +
                                     ", this replica was made for " +
                                     std::to_string(options_.group_size));
    return;
  }
  const bool known = x.epoch == epoch_;
  if (!known) {
    step_down();
    group_ = x.group;
    epoch_ = promised_ = x.epoch;
    promised_to_ = leader_ = x.leader;
    leader_end_ = x.end;
    leader_commit_ = 0;
    config_ = {};
    decided_ = 0;
    stamps_.clear();
    acks_.clear();
    if (contains(x.members, id_))
      log_.conform(x.commit, x.end, x.runs, x.epoch);
    else
      log_.drop_uncommitted();
  }
  const member_list list{x.epoch, x.config, x.members};
  if (list.newer_than(config_))
    config_ = list;
  run_at_.reset();
  runs_ = 0;
  leader_heard_ = now;
  if (!known) {
    tell_status(now);
    if (log_.end() < leader_end_ || log_.has_gap())
      fetch(now);
  }
  tell_held();
}

/// Whether the newest list holds: more than half of it know it.
void replica_books::check_members(time now) {
  progress_[id_].config = config_.number;
  const auto know = static_cast<std::size_t>(std::ranges::count_if(
      config_.members, [&](const auto& id) { return progress_[id].config >= config_.number; }));
  if (!config_pending() || know < majority(config_.members.size()))
    return;
  started_ = true;
  decided_ = config_.number;
  decided_members_ = config_.members;
  tell_status(now);
  advance_commit(now);
}

void replica_books::issue(id_list members, time now) {
  config_.members = std::move(members);
  ++config_.number;
  start_.config = config_.number;
  start_.members = config_.members;
  tell_status(now);
  check_members(now);
}

/// Nobody joins under the name of a member that lives; where that is lost, not before it is struck
/// off, if it can be.
bool replica_books::may_join(const status_message& x, time now) const {
  if (x.group != group_ || x.epoch != epoch_ || x.name == name_)
    return false;
  return std::ranges::none_of(config_.members, [&](const auto& each) {
    const auto found = others_.find(each);
    return found != others_.end() && found->second.status.name == x.name &&
           (lives(each, now) || config_.members.size() > majority(options_.group_size));
  });
}

/// Loses those that are lost, takes in those that have caught up; begins a new epoch where some
/// have promised one, or where messages that have a version do not come.
void replica_books::look_after_members(time now) {
  const auto patience = 2 * time_between_statuses(options_);
  const bool overtaken = std::ranges::any_of(others_, [&](const auto& each) {
    return lives(each.first, now) && each.second.status.group == group_ &&
           each.second.status.promised > epoch_;
  });
  if (!overtaken)
    overtaken_since_.reset();
  else if (!overtaken_since_)
    overtaken_since_ = now;
  const auto* awaited = log_.awaited();
  if ((overtaken_since_ && now - *overtaken_since_ > patience) ||
      (started_ && awaited != nullptr && now - awaited->since > options_.silence / 2)) {
    run_for(highest_epoch() + 1, now);
    return;
  }
  if (!started_) {
    port_.to_replicas(encoded(start_));
    return;
  }
  if (!joins_.is_nil() && now >= joins_until_)
    end_barrier(now);
  if (config_pending())
    return;
  const auto lost =
      std::ranges::find_if(config_.members, [&](const auto& each) { return !lives(each, now); });
  if (lost != config_.members.end() && config_.members.size() > majority(options_.group_size)) {
    auto left = config_.members;
    std::erase(left, *lost);
    const auto alive = std::ranges::count_if(left, [&](const auto& x) { return lives(x, now); });
    if (static_cast<std::size_t>(alive) >= majority(left.size())) { // else it is never decided
      issue(std::move(left), now);
      return;
    }
  }
  if (!joins_.is_nil() || now < next_join_)
    return;
  for (const auto& [id, its] : progress_)
    if (!contains(config_.members, id) && lives(id, now) && its.held + close_behind >= log_.end() &&
        may_join(others_.at(id).status, now)) {
      joins_ = id;
      joins_until_ = now + longest_barrier;
      next_join_ = now + time_between_barriers;
      look_at_barrier(now);
      return;
    }
}

/// Who joins must hold all that anybody holds: so nothing new comes until it does.
void replica_books::look_at_barrier(time now) {
  if (joins_.is_nil() || config_pending() || progress_[joins_].held < log_.end())
    return;
  auto members = config_.members;
  members.push_back(joins_);
  next_join_ = now;
  issue(std::move(members), now);
  end_barrier(now);
}

void replica_books::end_barrier(time now) {
  joins_ = {};
  for (const auto& each : std::exchange(held_back_, {}))
    receive(each, now);
}

// -- having no leader ----------------------------------------------------------------------------

bool replica_books::leader_lives(time now) const {
  if (leader_ == id_)
    return leads();
  const auto found = others_.find(leader_);
  const bool gone = found != others_.end() && found->second.gone;
  return epoch_ == promised_ && !gone && now - leader_heard_ <= options_.silence;
}

/// How many members that live come before this one.
std::size_t replica_books::rank(time now) const {
  return static_cast<std::size_t>(std::ranges::count_if(config_.members, [&](const auto& each) {
    return each < id_ && each != leader_ && lives(each, now);
  }));
}

/// Members run one after the other.
void replica_books::look_after_leader(time now) {
  if (role_ == role::candidate) {
    if (now < run_until_)
      return;
    role_ = role::follower;
  }
  const auto turn = time_of_a_run(options_);
  const bool waits = epoch_ != promised_ && now - leader_heard_ <= 2 * turn;
  if (!is_member() || leader_lives(now) || waits) {
    run_at_.reset();
    return;
  }
  if (!run_at_)
    run_at_ = now + turn * (rank(now) + (runs_ > 0 ? 1 : 0));
  if (now >= *run_at_)
    run_for(highest_epoch() + 1, now);
  else
    next_tick_ = std::min(next_tick_, *run_at_);
}

} // namespace pubsub::pattern
