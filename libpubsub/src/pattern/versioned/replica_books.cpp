#include "pattern/versioned/replica_books.hpp"

#include <algorithm>

namespace pubsub::pattern {

namespace {

using namespace std::chrono_literals;

constexpr auto usual_tick = 50ms;
constexpr auto time_to_ack = 1ms;   // the leader, where nobody waits for it
constexpr auto time_to_miss = 30ms; // what has been overtaken
constexpr auto time_between_fetches = 100ms;
constexpr std::size_t most_bodies = 4'096; // without a stamp
constexpr std::size_t most_bodies_bytes = std::size_t{64} << 20;

} // namespace

replica_books::replica_books(const endpoint_id& id, std::string name,
                             const replica_options& options, versioned_port& port, time now)
    : id_(id), name_(std::move(name)), options_(options), port_(port), begun_(now),
      log_(options.history_messages, options.history_bytes), next_status_(now), next_tick_(now),
      last_tick_(now) {}

// -- hearing -------------------------------------------------------------------------------------

template <class Message>
bool replica_books::on(const data_message& msg, const data_view& value, time now) {
  const auto what = parse_message<Message>(value);
  if (what)
    hear(*what, msg, now);
  return what.has_value();
}

void replica_books::receive(const data_message& msg, time now) {
  using handler = bool (replica_books::*)(const data_message&, const data_view&, time);
  static const std::map<std::uint64_t, handler> handlers{
      {hello_message::kind, &replica_books::on<hello_message>},
      {status_message::kind, &replica_books::on<status_message>},
      {submit_message::kind, &replica_books::on<submit_message>},
      {request_message::kind, &replica_books::on<request_message>},
      {record_message::kind, &replica_books::on<record_message>},
      {stamp_message::kind, &replica_books::on<stamp_message>},
      {tagged_message::kind, &replica_books::on<tagged_message>},
      {plain_message::kind, &replica_books::on<plain_message>},
      {held_message::kind, &replica_books::on<held_message>},
      {commit_message::kind, &replica_books::on<commit_message>},
      {fetch_message::kind, &replica_books::on<fetch_message>},
      {prepare_message::kind, &replica_books::on<prepare_message>},
      {promise_message::kind, &replica_books::on<promise_message>},
      {start_message::kind, &replica_books::on<start_message>},
      {snapshot_message::kind, &replica_books::on<snapshot_message>},
      {gone_message::kind, &replica_books::on<gone_message>}};
  if (failure_)
    return;
  const auto value = get_view(msg);
  const auto found = handlers.find(versioned_kind(value));
  if (found == handlers.end() || !(this->*found->second)(msg, value, now))
    ++counters_.refused;
}

/// Whether it is from the epoch we live in.
bool replica_books::is_of_now(const endpoint_id& group, std::uint64_t epoch) {
  const bool result = group == group_ && epoch == epoch_ && epoch == promised_;
  counters_.refused += result ? 0 : 1;
  return result;
}

void replica_books::settle(time now) {
  if (leads())
    advance_commit(now);
  for (const auto& [client, runs] : acks_)
    port_.to_client(client, encoded(ack_message{id_, epoch_, runs}));
  acks_.clear();
  for (const auto& [client, runs] : dones_)
    port_.to_client(client, encoded(done_message{runs}));
  dones_.clear();
  if (ack_now_)
    tell_held();
  if (ack_owed_)
    next_tick_ = std::min(next_tick_, *ack_owed_ + time_to_ack);
  if (commit_owed_)
    next_tick_ = std::min(next_tick_, *commit_owed_ + time_to_ack);
  if (forwarded_ < log_.end() && leads())
    next_tick_ = std::min<time>(next_tick_, now + time_to_ack);
}

void replica_books::tick(time now) {
  if (failure_)
    return;
  if (now - last_tick_ > options_.silence / 2)
    excuse_silence(now); // it was this process that was silent
  last_tick_ = now;
  next_tick_ = now + usual_tick;
  if (ack_owed_ && now - *ack_owed_ >= time_to_ack)
    tell_held();
  if (leads())
    forward_pending();
  if (commit_owed_ && now - *commit_owed_ >= time_to_ack && role_ == role::leader) {
    port_.to_replicas(encoded(commit_message{group_, epoch_, log_.commit()}));
    commit_owed_.reset();
  }
  if (group_.is_nil())
    look_for_group(now);
  else if (role_ == role::leader)
    look_after_members(now);
  else
    look_after_leader(now);
  if (role_ == role::follower)
    look_for_gaps(now);
  if (now >= next_status_) {
    tell_status(now);
    tell_held(); // it may have been lost
  }
  next_tick_ = std::min(next_tick_, next_status_);
  settle(now);
}

// -- following -----------------------------------------------------------------------------------

void replica_books::hear(const record_message& x, const data_message& msg, time now) {
  if (!is_of_now(x.group, x.epoch))
    return;
  const bool of_leader = !has(x.wishes, record_wish::from_client);
  if (of_leader && role_ != role::follower)
    return; // our own
  log_entry entry;
  entry.client = x.client;
  entry.run = x.run;
  entry.values = x.values;
  entry.storage = msg;
  entry.since = now;
  place(std::move(entry), x.wishes, now);
  if (!of_leader)
    return;
  leader_heard_ = now;
  hear_commit(x.commit);
  if (has(x.wishes, record_wish::repeated))
    counters_.fetched += x.run.count;
  if (has(x.wishes, record_wish::last) && (log_.end() < leader_end_ || log_.has_gap()))
    fetch(now);
}

void replica_books::place(log_entry what, std::uint64_t wishes, time now) {
  const auto client = what.client;
  const auto run = what.run;
  const auto before = log_.here();
  what.wishes = wishes;
  const auto result = log_.place(std::move(what));
  if (result == replica_log::place_result::refused) {
    ++counters_.refused;
    return;
  }
  leader_end_ = std::max(leader_end_, run.at.number + run.count - 1);
  if (result == replica_log::place_result::known && run.at.number <= before &&
      has(wishes, record_wish::ack_client))
    ack_client(client, run);
  ack_clients_above(before);
  if (role_ == role::follower) {
    owe_ack(has(wishes, record_wish::ack_leader), now);
    log_.commit_to(leader_commit_);
  }
  if (!stamps_.empty())
    stamps_.erase({client, run.client_first});
}

/// Only what is here without gap is held: what is beside is dropped by whoever begins an epoch.
void replica_books::ack_clients_above(std::uint64_t number) {
  while (number < log_.here()) {
    const auto* entry = log_.find(number + 1);
    if (entry == nullptr)
      return;
    number = entry->last();
    const bool ours = role_ == role::follower || has(entry->wishes, record_wish::from_client);
    if (ours && has(entry->wishes, record_wish::ack_client) &&
        (is_member() || entry->run.config > config_.number))
      ack_client(entry->client, entry->run);
  }
}

void replica_books::hear(const stamp_message& x, const data_message&, time now) {
  if (!is_of_now(x.group, x.epoch) || role_ != role::follower)
    return;
  leader_heard_ = now;
  leader_end_ = std::max(leader_end_, x.run.at.number + x.run.count - 1);
  log_entry entry;
  entry.client = x.client;
  entry.run = x.run;
  entry.since = now;
  const auto body = bodies_.find({x.client, x.run.client_first});
  if (body == bodies_.end()) {
    stamps_.insert_or_assign({x.client, x.run.client_first}, std::move(entry));
  } else if (body->second.what.values.count == x.run.count) {
    entry.values = body->second.what.values;
    entry.storage = std::move(body->second.storage);
    bodies_bytes_ -= entry.values.bytes.size();
    bodies_.erase(body);
    place(std::move(entry), static_cast<std::uint64_t>(record_wish::ack_client), now);
  }
  hear_commit(x.commit);
}

void replica_books::hear(const tagged_message& x, const data_message& msg, time now) {
  if (x.group != group_)
    return;
  if (role_ == role::leader) {
    constexpr auto scheme = static_cast<std::uint64_t>(versioning::tagged);
    if (x.stamper != id_ || !may_stamp())
      return;
    if (!joins_.is_nil())
      held_back_.push_back(msg);
    else if (is_new(x.client, x.first, x.settled, scheme))
      stamp(x.client, x.first, x.values, scheme, msg, now);
    return;
  }
  const auto stamped = stamps_.find({x.client, x.first});
  if (stamped == stamps_.end()) {
    keep_body(x, msg);
    return;
  }
  auto entry = std::move(stamped->second);
  stamps_.erase(stamped);
  if (entry.run.count != x.values.count)
    return;
  entry.values = x.values;
  entry.storage = msg;
  place(std::move(entry), static_cast<std::uint64_t>(record_wish::ack_client), now);
}

/// Until its stamp comes. What has one is here already; whoever sends more than there is room for
/// makes others ask the leader for what they miss.
void replica_books::keep_body(const tagged_message& x, const data_message& msg) {
  if (log_.clients().ask(x.client, x.first, x.settled).is == client_numbers::verdict::here)
    return;
  const place_of key{x.client, x.first};
  const auto [found, added] = bodies_.try_emplace(key, loose_body{x, msg});
  if (!added) {
    bodies_bytes_ -= found->second.what.values.bytes.size();
    found->second = {x, msg};
  } else {
    bodies_in_order_.push_back(key);
  }
  bodies_bytes_ += x.values.bytes.size();
  while (bodies_in_order_.size() > most_bodies || bodies_bytes_ > most_bodies_bytes) {
    const auto oldest = bodies_.find(bodies_in_order_.front());
    bodies_in_order_.pop_front();
    if (oldest == bodies_.end())
      continue;
    bodies_bytes_ -= oldest->second.what.values.bytes.size();
    bodies_.erase(oldest);
  }
}

void replica_books::hear(const plain_message& x, const data_message& msg, time) {
  auto rest = x.values.bytes;
  for (std::uint64_t i = 0; i < x.values.count; ++i) {
    auto& next = plain_.emplace_back();
    next.value = data_view::from_valid(rest);
    rest = rest.subspan(next.value.bytes().size());
    next.client = x.client;
    next.client_number = x.first + i;
    next.storage = msg;
  }
  ack_client(x.client, {x.first, x.values.count, {}, 0});
}

void replica_books::ack_client(const endpoint_id& client, const stamped_run& run) {
  if (!client.is_nil())
    acks_[client].push_back(run);
}

void replica_books::owe_ack(bool urgent, time now) {
  ack_now_ = ack_now_ || urgent;
  if (!ack_owed_)
    ack_owed_ = now;
}

void replica_books::tell_held() {
  ack_now_ = false;
  ack_owed_.reset();
  if (role_ == role::follower && epoch_ == promised_ && !group_.is_nil())
    port_.to_replica(leader_,
                     encoded(held_message{group_, id_, epoch_, config_.number, log_.here()}));
}

void replica_books::hear(const commit_message& x, const data_message&, time now) {
  if (!is_of_now(x.group, x.epoch) || role_ != role::follower)
    return;
  leader_heard_ = now;
  hear_commit(x.commit);
}

void replica_books::hear_commit(std::uint64_t commit) {
  leader_end_ = std::max(leader_end_, commit);
  leader_commit_ = std::max(leader_commit_, commit);
  log_.commit_to(leader_commit_);
}

/// What others have and has not come: a link has lost it, or we are late.
void replica_books::look_for_gaps(time now) {
  if (group_.is_nil() || epoch_ != promised_ || (log_.end() >= leader_end_ && !log_.has_gap()))
    return;
  next_tick_ = std::min<time>(next_tick_, now + time_to_miss);
  if (gap_at_ != log_.end()) {
    gap_at_ = log_.end();
    gap_since_ = now;
  } else if (now - gap_since_ >= time_to_miss && now - fetched_ >= time_between_fetches) {
    fetch(now);
  }
}

void replica_books::fetch(time now) {
  fetched_ = now;
  port_.to_replica(leader_, encoded(fetch_message{group_, id_, epoch_, log_.end() + 1}));
}

// -- snapshots -----------------------------------------------------------------------------------

void replica_books::give_snapshot(std::span<const std::byte> state, time) {
  const auto wanted = std::exchange(want_snapshot_, {});
  if (!leads())
    return;
  const snapshot_message what{
      group_, epoch_, log_.applied(), log_.clients_when_given(), {1, state}};
  for (const auto& each : wanted)
    port_.to_replica(each, encoded(what));
}

void replica_books::hear(const snapshot_message& x, const data_message& msg, time now) {
  if (!is_of_now(x.group, x.epoch) || role_ != role::follower || x.at.number <= log_.end())
    return;
  if (!options_.restore) {
    fail(errc::not_supported, "what this replica has missed is in no history any more, and it has "
                              "no function to restore a snapshot");
    return;
  }
  log_.begin_after(x.at, x.clients);
  restore_.emplace(x, msg);
  owe_ack(true, now);
  fetch(now);
}

void replica_books::hear(const gone_message& x, const data_message&, time) {
  if (is_of_now(x.group, x.epoch) && role_ == role::follower && x.oldest > log_.end() + 1)
    fail(errc::not_supported,
         "what this replica has missed is in no history any more: it needs number " +
             std::to_string(log_.end() + 1) + ", others go back to " + std::to_string(x.oldest) +
             " and give no snapshot");
}

std::optional<std::pair<snapshot_message, data_message>> replica_books::take_restore() {
  return std::exchange(restore_, {});
}

// -- handing out ---------------------------------------------------------------------------------

std::size_t replica_books::take(std::vector<versioned_message>& out, std::size_t max) {
  std::size_t taken = 0;
  for (; taken < max && !plain_.empty(); ++taken) {
    out.push_back(std::move(plain_.front()));
    plain_.pop_front();
  }
  const auto begin = out.size();
  taken += log_.take(out, max - taken);
  for (auto i = begin; i < out.size(); ++i)
    counters_.voids += out[i].is_void() ? 1 : 0;
  counters_.handed_out += taken;
  return taken;
}

void replica_books::fail(errc code, std::string why) {
  if (!failure_)
    failure_ = {code, std::move(why)};
  step_down();
}

} // namespace pubsub::pattern
