// SPDX-License-Identifier: BSD-3-Clause
#include "pattern/versioned/protocol/log_follower.hpp"

namespace pubsub::pattern {

/// False where there is no other leader: this replica is a candidate, or leads.
bool log_follower::hear_leader(std::uint64_t commit, time_point now) {
  if (!epoch_.follows())
    return false;
  self_.leader_heard = now;
  leader_end_ = std::max(leader_end_, commit);
  leader_commit_ = std::max(leader_commit_, commit);
  log_.commit_to(leader_commit_);
  return true;
}

void log_follower::hear(const record_message& x, const data_message& msg, time_point now) {
  const auto has = [&](std::uint64_t flag) { return (x.flags & flag) != 0; };
  if (!has(record_flag::from_client) && !hear_leader(x.commit, now))
    return;
  std::optional<log_entry> entry{{.client = x.client,
                                  .run = x.run,
                                  .values = x.values,
                                  .storage = msg,
                                  .here = !has(record_flag::submitted),
                                  .flags = x.flags,
                                  .since = now}};
  if (!entry->here) {
    leader_end_ = std::max(leader_end_, x.run.last());
    entry = tagged_.add(std::move(*entry));
  }
  if (entry)
    place(std::move(*entry), now);
  if (has(record_flag::repeated))
    self_.counters.fetched += x.run.count;
  if (has(record_flag::last) && may_fetch())
    fetch(now);
}

/// Messages that wait for no versions and have some are here already.
void log_follower::hear_body(const submit_message& x, const data_message& msg, time_point now) {
  if (!tagged_.has_versions(x.client, x.first) && log_.clients().find(x.client, x.first) != nullptr)
    return;
  if (auto whole = tagged_.add({.client = x.client,
                                .run = {x.first, x.count, {}, 0},
                                .values = x.values,
                                .storage = msg}))
    place(std::move(*whole), now);
}

void log_follower::hear_leader(const status_message& x, time_point now) {
  if (!hear_leader(x.commit, now))
    return;
  leader_end_ = std::max(leader_end_, x.held);
  epoch_.decide(x.at.decided);
  if (epoch_.learn(x.at.list))
    owe_ack(now);
}

void log_follower::place(log_entry what, time_point now) {
  const auto client = what.client;
  const auto run = what.run;
  const auto flags = what.flags;
  const auto before = log_.here();
  const auto result = log_.place(std::move(what));
  if (result == replica_log::place_result::refused) {
    ++self_.counters.refused;
    return;
  }
  leader_end_ = std::max(leader_end_, run.last());
  if (result == replica_log::place_result::known && run.at.number <= before &&
      (flags & record_flag::ack_client) != 0)
    self_.replies.add(client, reply::held, run);
  acknowledge_above(before);
  if (epoch_.follows()) {
    owe_ack((flags & record_flag::ack_leader) != 0 ? now : now + tuning::ack_delay);
    log_.commit_to(leader_commit_);
  }
  tagged_.forget(client, run.client_first);
}

void log_follower::begin_epoch(const start_message& x, time_point now) {
  tagged_.begin_epoch();
  self_.replies.begin_epoch();
  leader_end_ = x.end;
  leader_commit_ = 0;
  log_.conform(contains(x.at.list.members, self_.id) ? x : start_message{});
  if (may_fetch())
    fetch(now);
}

/// Only what is here without gap is held: the leader of the next epoch drops what is beside.
void log_follower::acknowledge_above(std::uint64_t number) {
  while (number < log_.here()) {
    const auto* entry = log_.find(number + 1);
    if (entry == nullptr)
      return;
    number = entry->last();
    const bool may = epoch_.follows() || (entry->flags & record_flag::from_client) != 0;
    if (may && (entry->flags & record_flag::ack_client) != 0 &&
        (self_.is_member() || entry->run.config > epoch_.list.number))
      self_.replies.add(entry->client, reply::held, entry->run);
  }
}

void log_follower::settle(time_point now) {
  if (now < ack_due_)
    return;
  ack_due_ = time_point::max();
  if (epoch_.follows() && epoch_.is_current() && !epoch_.group.is_nil())
    report(false);
}

void log_follower::report(bool lacks_next) {
  self_.port.to_replica(epoch_.leader, held_message{epoch_.group, self_.id, epoch_.number,
                                                    epoch_.list.number, log_.here(), lacks_next});
}

void log_follower::tick(time_point now) {
  if (!may_fetch())
    return;
  if (gap_at_ != log_.end()) {
    gap_at_ = log_.end();
    gap_since_ = now;
  } else if (now - gap_since_ >= tuning::gap_patience &&
             now - fetched_ >= tuning::between_fetches) {
    fetch(now);
  }
}

time_point log_follower::next_tick(time_point now) const {
  return may_fetch() ? std::min<time_point>(ack_due_, now + tuning::gap_patience) : ack_due_;
}

/// A link has lost it, or this replica is late.
void log_follower::fetch(time_point now) {
  fetched_ = now;
  report(true);
}

} // namespace pubsub::pattern
