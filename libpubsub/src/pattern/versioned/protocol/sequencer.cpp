#include "pattern/versioned/protocol/sequencer.hpp"

#include <algorithm>

namespace pubsub::pattern {

namespace {

/// The client sends the messages itself; only their versions are forwarded.
constexpr std::uint64_t stamp_only = 1 << 8;

std::uint64_t flags_of(versioning scheme) {
  switch (scheme) {
  case versioning::one_hop:
    return bit(record_flag::ack_leader);
  case versioning::one_hop_ack_client:
    return bit(record_flag::ack_client);
  case versioning::tagged:
    return bit(record_flag::ack_client) | stamp_only;
  default:
    return bit(record_flag::ack_client) | bit(record_flag::from_client);
  }
}

} // namespace

// -- versions ------------------------------------------------------------------------------------

void sequencer::submit(const submission& x, const data_message& msg, time now) {
  if (!epoch_.leads() || !epoch_.is_current())
    return;
  if (members_.is_joining())
    held_back_.push_back(msg);
  else if (is_new(x))
    stamp(x, msg, now);
}

/// False where the messages have a version: the client is told, now or once all members hold them.
bool sequencer::is_new(const submission& x) {
  const auto answer = log_.clients().ask(x.client, x.first, x.settled);
  if (answer.is != client_numbers::verdict::here)
    return answer.is == client_numbers::verdict::next;
  const auto& run = *answer.run;
  if (run.at.number + run.count - 1 <= log_.commit()) {
    replies_.complete(x.client, run);
    return false;
  }
  auto* entry = log_.find(run.at.number);
  if (entry == nullptr)
    return false;
  entry->notify = true;
  if (run.at.epoch == epoch_.epoch &&
      (x.scheme == versioning::version_request || x.scheme == versioning::message_returns_version))
    grant(x.client, run, entry->here);
  return false;
}

void sequencer::stamp(const submission& x, const data_message& msg, time now) {
  const auto flags = flags_of(x.scheme);
  log_entry entry;
  entry.client = x.client;
  entry.run = {x.first, x.values.count, {epoch_.epoch, log_.end() + 1}, epoch_.list.number};
  entry.values = {x.values.count, x.values.bytes};
  entry.storage = msg;
  entry.here = x.scheme != versioning::version_request;
  entry.flags = flags;
  entry.notify = x.scheme == versioning::one_hop;
  entry.since = now;
  const auto run = entry.run;
  const bool here = entry.here;
  counters_.stamped += run.count;
  log_.append(std::move(entry));
  forward_pending();
  if (has(flags, record_flag::from_client))
    grant(x.client, run, here);
  else if (epoch_.list.members.size() == 1 && has(flags, record_flag::ack_client))
    replies_.acknowledge(x.client, run); // else an acknowledgement of another implies this one
}

void sequencer::grant(const endpoint_id& client, const stamped_run& run, bool holds) {
  port_.to_client(client, granted_message{own_, epoch_.epoch, holds, {run}});
}

// -- forwarding ----------------------------------------------------------------------------------

/// What a link does not take now is forwarded later.
void sequencer::forward_pending() {
  while (forwarded_ < log_.end()) {
    const auto* entry = log_.find(forwarded_ + 1);
    if (entry != nullptr && !forward(*entry))
      return;
    forwarded_ = entry == nullptr ? log_.end() : entry->last();
  }
}

bool sequencer::forward(const log_entry& entry) {
  if (has(entry.flags, record_flag::from_client))
    return true; // the client does it
  commit_owed_.reset();
  if ((entry.flags & stamp_only) == 0)
    return port_.to_replicas(record_of(entry, entry.flags));
  return port_.to_replicas(
      stamp_message{epoch_.group, epoch_.epoch, log_.commit(), entry.client, entry.run});
}

/// The values go as they came: they are copied, not decoded.
record_message sequencer::record_of(const log_entry& entry, std::uint64_t flags) const {
  return {epoch_.group,
          epoch_.epoch,
          log_.commit(),
          flags,
          entry.client,
          entry.run,
          entry.client.is_nil() ? value_list{} : entry.values};
}

void sequencer::hear(const fetch_message& x) {
  if (!epoch_.leads())
    return;
  if (x.from <= log_.forgotten()) {
    if (options_.snapshot)
      need_snapshot_.insert(x.replica);
    else
      port_.to_replica(x.replica, gone_message{epoch_.group, epoch_.epoch, log_.forgotten() + 1});
    return;
  }
  std::vector<const log_entry*> found;
  std::size_t size = 0;
  for (auto from = x.from;
       found.size() < tuning::most_repeated_entries && size < tuning::most_repeated_bytes;
       from = found.back()->last() + 1) {
    const auto* entry = log_.find(from);
    if (entry == nullptr || !entry->here)
      break;
    found.push_back(entry);
    size += entry->values.bytes.size();
  }
  for (const auto* each : found) {
    const auto last = each == found.back() ? bit(record_flag::last) : 0;
    const auto flags = bit(record_flag::repeated) | bit(record_flag::ack_leader) | last;
    if (!port_.to_replica(x.replica, record_of(*each, flags)))
      return;
  }
}

void sequencer::send_snapshot(std::span<const std::byte> state) {
  const auto replicas = std::exchange(need_snapshot_, {});
  if (!epoch_.leads())
    return;
  const snapshot_message what{
      epoch_.group, epoch_.epoch, log_.applied(), log_.clients_when_given(), {1, state}};
  for (const auto& each : replicas)
    port_.to_replica(each, what);
}

// -- what all members hold -----------------------------------------------------------------------

void sequencer::settle(time now) {
  const auto before = log_.commit();
  if (!epoch_.leads() || !log_.commit_to(members_.held_by_all()))
    return;
  complete(before);
  if (!commit_owed_)
    commit_owed_ = now;
}

/// Tells the clients that wait for it.
void sequencer::complete(std::uint64_t from) {
  for (auto number = from + 1; number <= log_.commit();) {
    auto* entry = log_.find(number);
    if (entry == nullptr)
      return;
    if (std::exchange(entry->notify, false))
      replies_.complete(entry->client, entry->run);
    number = entry->last() + 1;
  }
}

void sequencer::tick(time now) {
  if (epoch_.leads())
    forward_pending();
  if (commit_owed_ && now - *commit_owed_ >= tuning::ack_delay) {
    port_.to_replicas(commit_message{epoch_.group, epoch_.epoch, log_.commit()});
    commit_owed_.reset();
  }
}

sequencer::time sequencer::next_tick(time now) const {
  auto next = time::max();
  if (commit_owed_)
    next = *commit_owed_ + tuning::ack_delay;
  if (forwarded_ < log_.end() && epoch_.leads())
    next = std::min<time>(next, now + tuning::ack_delay);
  return next;
}

} // namespace pubsub::pattern
