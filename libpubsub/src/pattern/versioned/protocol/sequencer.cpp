// SPDX-License-Identifier: BSD-3-Clause
#include "pattern/versioned/protocol/sequencer.hpp"

namespace pubsub::pattern {

namespace {

std::uint64_t flags_of(const submit_message& x) {
  switch (versioning{static_cast<std::uint8_t>(x.scheme)}) {
  case versioning::one_hop:
    return record_flag::ack_leader;
  case versioning::one_hop_ack_client:
    return record_flag::ack_client;
  case versioning::tagged:
    return record_flag::ack_client | record_flag::submitted;
  default:
    return record_flag::ack_client | record_flag::from_client;
  }
}

} // namespace

void sequencer::submit(const submit_message& x, const data_message& msg, time_point now) {
  if (!epoch_.leads())
    return;
  if (members_.is_joining())
    held_back_.push_back(msg);
  else if (is_new(x))
    assign_versions(x, msg, now);
}

/// False where the messages have versions: the client hears so, now or once all members hold them.
bool sequencer::is_new(const submit_message& x) {
  const auto* run = log_.clients().find(x.client, x.first);
  if (run == nullptr)
    return log_.clients().is_next(x.client, x.first, x.settled);
  if (run->last() <= log_.commit()) {
    self_.replies.add(x.client, reply::held_by_all, *run);
  } else if (auto* entry = log_.find(run->at.number)) {
    entry->notify = true;
    if (run->at.epoch == epoch_.number && (flags_of(x) & record_flag::from_client) != 0)
      grant(x.client, *run, entry->here);
  }
  return false;
}

void sequencer::assign_versions(const submit_message& x, const data_message& msg, time_point now) {
  const version_run run{x.first, x.count, {epoch_.number, log_.end() + 1}, epoch_.list.number};
  const auto flags = flags_of(x);
  const bool here = !x.asks(versioning::version_request);
  self_.counters.numbered += run.count;
  log_.append({.client = x.client,
               .run = run,
               .values = x.values,
               .storage = msg,
               .here = here,
               .flags = flags,
               .notify = x.asks(versioning::one_hop),
               .since = now});
  forward_pending();
  if ((flags & record_flag::from_client) != 0)
    grant(x.client, run, here);
  else if (epoch_.list.members.size() == 1 && (flags & record_flag::ack_client) != 0)
    self_.replies.add(x.client, reply::held, run); // else another's implies this one
}

void sequencer::grant(const endpoint_id& client, const version_run& run, bool holds) {
  self_.replies.add(client, holds ? reply::numbered_and_held : reply::numbered, run);
}

/// What a link does not take now is forwarded later; what the client sends itself, never.
void sequencer::forward_pending() {
  while (forwarded_ < log_.end()) {
    const auto* entry = log_.find(forwarded_ + 1);
    if (entry != nullptr && (entry->flags & record_flag::from_client) == 0) {
      commit_due_ = time_point::max();
      if (!self_.port.to_replicas(record_of(*entry, entry->flags)))
        return;
    }
    forwarded_ = entry == nullptr ? log_.end() : entry->last();
  }
}

/// The values go as they came: they are copied, not decoded.
record_message sequencer::record_of(const log_entry& entry, std::uint64_t flags) const {
  const bool without_values = entry.client.is_nil() || (flags & record_flag::submitted) != 0;
  return {epoch_.group,
          epoch_.number,
          log_.commit(),
          flags,
          entry.client,
          entry.run,
          without_values ? value_list{} : entry.values};
}

void sequencer::repeat(const held_message& x) {
  if (!epoch_.leads())
    return;
  if (x.held < log_.forgotten()) {
    if (self_.options.snapshot)
      need_snapshot_.insert(x.replica);
    else
      self_.port.to_replica(
          x.replica, snapshot_message{epoch_.group, epoch_.number, {0, log_.forgotten()}, {}, {}});
    return;
  }
  std::size_t entries = 0;
  std::size_t size = 0;
  for (const auto* entry = log_.find(x.held + 1); entry != nullptr && entry->here;) {
    ++entries;
    size += entry->values.bytes.size();
    const auto* next = log_.find(entry->last() + 1);
    const bool last = next == nullptr || !next->here || entries == tuning::most_repeated_entries ||
                      size >= tuning::most_repeated_bytes;
    const auto flags =
        record_flag::repeated | record_flag::ack_leader | (last ? record_flag::last : 0);
    if (!self_.port.to_replica(x.replica, record_of(*entry, flags)) || last)
      return;
    entry = next;
  }
}

void sequencer::send_snapshot(std::span<const std::byte> state) {
  const snapshot_message what{
      epoch_.group, epoch_.number, log_.applied(), log_.clients_when_given(), {1, state}};
  for (const auto& each : std::exchange(need_snapshot_, {}))
    self_.port.to_replica(each, what);
}

/// Tells the clients that wait for it what all members hold.
void sequencer::settle(time_point now) {
  auto number = log_.commit() + 1;
  if (!epoch_.leads() || !log_.commit_to(members_.held_by_all()))
    return;
  for (auto* entry = log_.find(number); entry != nullptr && number <= log_.commit();
       entry = log_.find(number)) {
    if (std::exchange(entry->notify, false))
      self_.replies.add(entry->client, reply::held_by_all, entry->run);
    number = entry->last() + 1;
  }
  commit_due_ = std::min<time_point>(commit_due_, now + tuning::ack_delay);
}

void sequencer::tick(time_point now) {
  forward_pending();
  if (now >= commit_due_) {
    self_.port.to_replicas(commit_message{epoch_.group, epoch_.number, log_.commit()});
    commit_due_ = time_point::max();
  }
}

time_point sequencer::next_tick(time_point now) const {
  const bool pending = forwarded_ < log_.end();
  return pending ? std::min<time_point>(commit_due_, now + tuning::ack_delay) : commit_due_;
}

} // namespace pubsub::pattern
