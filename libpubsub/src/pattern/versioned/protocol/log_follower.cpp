#include "pattern/versioned/protocol/log_follower.hpp"

#include <algorithm>

namespace pubsub::pattern {

// -- what comes ----------------------------------------------------------------------------------

void log_follower::hear(const record_message& x, const data_message& msg, time now) {
  const bool of_leader = !has(x.flags, record_flag::from_client);
  if (of_leader && !follows())
    return; // its own, or while it is a candidate
  log_entry entry;
  entry.client = x.client;
  entry.run = x.run;
  entry.values = x.values;
  entry.storage = msg;
  entry.since = now;
  place(std::move(entry), x.flags, now);
  if (!of_leader)
    return;
  epochs_.heard_leader(now);
  learn_commit(x.commit);
  if (has(x.flags, record_flag::repeated))
    counters_.fetched += x.run.count;
  if (has(x.flags, record_flag::last) && lacks_numbers())
    fetch(now);
}

void log_follower::hear(const stamp_message& x, time now) {
  if (!follows())
    return;
  epochs_.heard_leader(now);
  leader_end_ = std::max(leader_end_, x.run.at.number + x.run.count - 1);
  log_entry entry;
  entry.client = x.client;
  entry.run = x.run;
  entry.since = now;
  if (auto whole = tagged_.add_stamp(std::move(entry)))
    place(std::move(*whole), bit(record_flag::ack_client), now);
  learn_commit(x.commit);
}

/// Messages without a stamp that have a version are here already.
void log_follower::hear(const tagged_message& x, const data_message& msg, time now) {
  if (!tagged_.has_stamp(x) &&
      log_.clients().ask(x.client, x.first, x.settled).is == client_numbers::verdict::here)
    return;
  if (auto whole = tagged_.add_body(x, msg))
    place(std::move(*whole), bit(record_flag::ack_client), now);
}

void log_follower::hear(const commit_message& x, time now) {
  if (!follows())
    return;
  epochs_.heard_leader(now);
  learn_commit(x.commit);
}

void log_follower::hear(const status_message& x, time now) {
  epochs_.heard_leader(now);
  leader_end_ = std::max(leader_end_, x.held);
  learn_commit(x.commit);
  epochs_.decide(x.decided);
  if (x.config > state_.list.number) {
    epochs_.learn({x.epoch, x.config, x.members});
    owe_ack(true, now);
  }
}

void log_follower::learn_commit(std::uint64_t commit) {
  leader_end_ = std::max(leader_end_, commit);
  leader_commit_ = std::max(leader_commit_, commit);
  log_.commit_to(leader_commit_);
}

void log_follower::place(log_entry what, std::uint64_t flags, time now) {
  const auto client = what.client;
  const auto run = what.run;
  const auto before = log_.here();
  what.flags = flags;
  const auto result = log_.place(std::move(what));
  if (result == replica_log::place_result::refused) {
    ++counters_.refused;
    return;
  }
  leader_end_ = std::max(leader_end_, run.at.number + run.count - 1);
  if (result == replica_log::place_result::known && run.at.number <= before &&
      has(flags, record_flag::ack_client))
    replies_.acknowledge(client, run);
  acknowledge_above(before);
  if (follows()) {
    owe_ack(has(flags, record_flag::ack_leader), now);
    log_.commit_to(leader_commit_);
  }
  tagged_.forget_stamp(client, run.client_first);
}

// -- epochs --------------------------------------------------------------------------------------

void log_follower::begin_epoch() {
  tagged_.begin_epoch();
  replies_.begin_epoch();
  log_.close_gaps(state_.epoch);
}

/// What is above the leader's commit may differ; all members hold what is below.
void log_follower::begin_epoch(const start_message& x, time now) {
  tagged_.begin_epoch();
  replies_.begin_epoch();
  leader_end_ = x.end;
  leader_commit_ = 0;
  if (contains(x.members, own_))
    log_.conform(x.commit, x.end, x.runs, x.epoch);
  else
    log_.drop_uncommitted();
  if (lacks_numbers())
    fetch(now);
}

// -- acknowledgements ----------------------------------------------------------------------------

/// Only what is here without gap is held: the leader of the next epoch drops what is beside.
void log_follower::acknowledge_above(std::uint64_t number) {
  while (number < log_.here()) {
    const auto* entry = log_.find(number + 1);
    if (entry == nullptr)
      return;
    number = entry->last();
    const bool own = follows() || has(entry->flags, record_flag::from_client);
    if (own && has(entry->flags, record_flag::ack_client) &&
        (epochs_.is_member() || entry->run.config > state_.list.number))
      replies_.acknowledge(entry->client, entry->run);
  }
}

void log_follower::owe_ack(bool urgent, time now) {
  ack_now_ = ack_now_ || urgent;
  if (!ack_owed_)
    ack_owed_ = now;
}

void log_follower::acknowledge_to_leader() {
  ack_now_ = false;
  ack_owed_.reset();
  if (follows() && state_.is_current() && !state_.group.is_nil())
    port_.to_replica(state_.leader, held_message{state_.group, own_, state_.epoch,
                                                 state_.list.number, log_.here()});
}

// -- what is missing -----------------------------------------------------------------------------

void log_follower::tick(time now) {
  if (ack_owed_ && now - *ack_owed_ >= tuning::ack_delay)
    acknowledge_to_leader();
  if (!follows() || !state_.is_current() || !lacks_numbers())
    return;
  if (gap_at_ != log_.end()) {
    gap_at_ = log_.end();
    gap_since_ = now;
  } else if (now - gap_since_ >= tuning::gap_patience &&
             now - fetched_ >= tuning::between_fetches) {
    fetch(now);
  }
}

log_follower::time log_follower::next_tick(time now) const {
  auto next = time::max();
  if (ack_owed_)
    next = *ack_owed_ + tuning::ack_delay;
  if (follows() && state_.is_current() && lacks_numbers())
    next = std::min<time>(next, now + tuning::gap_patience);
  return next;
}

/// A link has lost it, or this replica is late.
void log_follower::fetch(time now) {
  fetched_ = now;
  port_.to_replica(state_.leader, fetch_message{state_.group, own_, state_.epoch, log_.end() + 1});
}

} // namespace pubsub::pattern
