// What the leader of a group does with messages.
#include <algorithm>

#include "pattern/versioned/replica_books.hpp"

namespace pubsub::pattern {

namespace {

constexpr std::size_t most_repeated_bytes = 256 * 1024; // for one fetch
constexpr std::size_t most_repeated_entries = 512;

constexpr std::uint64_t bits(record_wish x) {
  return static_cast<std::uint64_t>(x);
}

/// The client sends the messages itself, and only their versions are to be forwarded.
constexpr std::uint64_t stamp_only = 1 << 8;

std::uint64_t wishes_of(versioning scheme) {
  switch (scheme) {
  case versioning::one_hop:
    return bits(record_wish::ack_leader);
  case versioning::one_hop_ack_client:
    return bits(record_wish::ack_client);
  case versioning::tagged:
    return bits(record_wish::ack_client) | stamp_only;
  default:
    return bits(record_wish::ack_client) | bits(record_wish::from_client);
  }
}

} // namespace

/// While somebody joins, what comes is put aside.
bool replica_books::may_stamp() const noexcept {
  return leads() && epoch_ == promised_;
}

void replica_books::hear(const submit_message& x, const data_message& msg, time now) {
  if (!may_stamp() || x.group != group_)
    return;
  if (!joins_.is_nil())
    held_back_.push_back(msg);
  else if (is_new(x.client, x.first, x.settled, x.scheme))
    stamp(x.client, x.first, x.values, x.scheme, msg, now);
}

void replica_books::hear(const request_message& x, const data_message& msg, time now) {
  constexpr auto scheme = static_cast<std::uint64_t>(versioning::version_request);
  if (!may_stamp() || x.group != group_)
    return;
  if (!joins_.is_nil())
    held_back_.push_back(msg);
  else if (is_new(x.client, x.first, x.settled, scheme))
    stamp(x.client, x.first, {x.count, {}}, scheme, {}, now);
}

/// False where they have a version: the client is told, now or once all hold them.
bool replica_books::is_new(const endpoint_id& client, std::uint64_t first, std::uint64_t settled,
                           std::uint64_t scheme) {
  const auto answer = log_.clients().ask(client, first, settled);
  if (answer.is != client_numbers::verdict::here)
    return answer.is == client_numbers::verdict::next;
  const auto& run = *answer.run;
  if (run.at.number + run.count - 1 <= log_.commit()) {
    dones_[client].push_back(run);
    return false;
  }
  auto* entry = log_.find(run.at.number);
  if (entry == nullptr)
    return false;
  entry->notify = true;
  const auto known = static_cast<versioning>(scheme);
  if (run.at.epoch == epoch_ &&
      (known == versioning::version_request || known == versioning::message_returns_version))
    grant(client, run, entry->here);
  return false;
}

void replica_books::stamp(const endpoint_id& client, std::uint64_t first, const value_list& values,
                          std::uint64_t scheme, const data_message& msg, time now) {
  const auto how = static_cast<versioning>(scheme);
  log_entry entry;
  entry.client = client;
  entry.run = {first, values.count, {epoch_, log_.end() + 1}, config_.number};
  entry.values = values;
  entry.storage = msg;
  entry.here = how != versioning::version_request;
  entry.wishes = wishes_of(how);
  entry.notify = how == versioning::one_hop;
  entry.since = now;
  const auto run = entry.run;
  counters_.stamped += run.count;
  log_.append(std::move(entry));
  forward_pending();
  if (has(wishes_of(how), record_wish::from_client))
    grant(client, run, how != versioning::version_request);
  else if (config_.members.size() == 1 && has(wishes_of(how), record_wish::ack_client))
    ack_client(client, run); // else the others' say it, too
}

void replica_books::grant(const endpoint_id& client, const stamped_run& run, bool holds) {
  port_.to_client(client, encoded(granted_message{id_, epoch_, holds, {run}}));
}

/// What a link does not take now is forwarded later.
void replica_books::forward_pending() {
  while (forwarded_ < log_.end()) {
    const auto* entry = log_.find(forwarded_ + 1);
    if (entry != nullptr && !forward(*entry))
      return;
    forwarded_ = entry == nullptr ? log_.end() : entry->last();
  }
}

bool replica_books::forward(const log_entry& entry) {
  if (has(entry.wishes, record_wish::from_client))
    return true; // that is up to the client
  commit_owed_.reset();
  if ((entry.wishes & stamp_only) == 0)
    return send_record(nullptr, entry, entry.wishes);
  return port_.to_replicas(
      encoded(stamp_message{group_, epoch_, log_.commit(), entry.client, entry.run}));
}

/// The values as they came: they are copied, not decoded.
bool replica_books::send_record(const endpoint_id* to, const log_entry& entry,
                                std::uint64_t wishes) {
  const auto bytes =
      encoded(record_message{group_, epoch_, log_.commit(), wishes, entry.client, entry.run,
                             entry.client.is_nil() ? value_list{} : entry.values});
  return to == nullptr ? port_.to_replicas(bytes) : port_.to_replica(*to, bytes);
}

// -- what is held --------------------------------------------------------------------------------

void replica_books::hear(const held_message& x, const data_message&, time now) {
  if (role_ != role::leader || x.group != group_ || x.epoch != epoch_)
    return;
  auto& its = progress_[x.replica];
  its.held = std::max(its.held, x.held);
  its.config = std::max(its.config, x.config);
  if (const auto found = others_.find(x.replica); found != others_.end())
    found->second.heard = now;
  if (config_pending())
    check_members(now);
  look_at_barrier(now);
}

/// All that count hold it, those included of whom it is not decided yet whether they do.
void replica_books::advance_commit(time now) {
  progress_[id_].held = log_.here();
  auto all = log_.here();
  for (const auto* list : {&decided_members_, &config_.members})
    for (const auto& each : *list)
      all = std::min(all, progress_[each].held);
  const auto before = log_.commit();
  if (!log_.commit_to(all))
    return;
  notify_committed(before);
  if (!commit_owed_)
    commit_owed_ = now;
}

void replica_books::notify_committed(std::uint64_t from) {
  for (auto number = from + 1; number <= log_.commit();) {
    auto* entry = log_.find(number);
    if (entry == nullptr)
      return;
    if (std::exchange(entry->notify, false) && !entry->client.is_nil())
      dones_[entry->client].push_back(entry->run);
    number = entry->last() + 1;
  }
}

// -- repeating -----------------------------------------------------------------------------------

void replica_books::hear(const fetch_message& x, const data_message&, time) {
  if (leads() && is_of_now(x.group, x.epoch))
    serve(x.replica, x.from);
}

void replica_books::serve(const endpoint_id& replica, std::uint64_t from) {
  if (from <= log_.forgotten()) {
    if (options_.snapshot)
      want_snapshot_.insert(replica);
    else
      port_.to_replica(replica, encoded(gone_message{group_, epoch_, log_.forgotten() + 1}));
    return;
  }
  std::vector<const log_entry*> found;
  std::size_t size = 0;
  while (found.size() < most_repeated_entries && size < most_repeated_bytes) {
    const auto* entry = log_.find(from);
    if (entry == nullptr || !entry->here)
      break;
    found.push_back(entry);
    size += entry->values.bytes.size();
    from = entry->last() + 1;
  }
  for (const auto* each : found) {
    auto wishes = bits(record_wish::repeated) | bits(record_wish::ack_leader);
    if (each == found.back())
      wishes |= bits(record_wish::last);
    if (!send_record(&replica, *each, wishes))
      return;
  }
}

} // namespace pubsub::pattern
