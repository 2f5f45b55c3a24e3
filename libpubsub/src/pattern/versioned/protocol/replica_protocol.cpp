#include "pattern/versioned/protocol/replica_protocol.hpp"

#include <algorithm>
#include <type_traits>

namespace pubsub::pattern {

namespace {

template <class T, class... All>
constexpr bool is_one_of = (std::is_same_v<T, All> || ...);

/// Sent within an epoch, and void in any other.
template <class Message>
constexpr bool is_of_epoch = is_one_of<Message, record_message, stamp_message, commit_message,
                                       fetch_message, snapshot_message, gone_message>;
template <class Message>
constexpr bool is_for_clients = is_one_of<Message, granted_message, ack_message, done_message>;

std::uint64_t milliseconds(std::chrono::nanoseconds x) {
  return static_cast<std::uint64_t>(std::chrono::floor<std::chrono::milliseconds>(x).count());
}

} // namespace

replica_protocol::replica_protocol(const endpoint_id& id, std::string name,
                                   const replica_options& options, versioned_port& port, time now)
    : id_(id), name_(std::move(name)), options_(options), port_(port), begun_(now),
      log_(options.history_messages, options.history_bytes), others_(id, name_, options_),
      epochs_(id, options_, others_, port, now),
      follower_(id, epochs_, log_, replies_, port, counters_), next_status_(now), next_tick_(now),
      last_tick_(now) {}

// -- messages ------------------------------------------------------------------------------------

void replica_protocol::receive(const data_message& msg, time now) {
  if (failure_)
    return;
  const auto what = parse_message(get_view(msg));
  if (!what) {
    ++counters_.refused;
    return;
  }
  std::visit([&](const auto& x) { dispatch(x, msg, now); }, *what);
}

template <class Message>
void replica_protocol::dispatch(const Message& x, const data_message& msg, time now) {
  if constexpr (is_for_clients<Message>) {
    ++counters_.refused;
  } else {
    if constexpr (is_of_epoch<Message>)
      if (!epoch().is_current(x.group, x.epoch)) {
        ++counters_.refused;
        return;
      }
    if constexpr (std::is_same_v<Message, record_message>)
      follower_.hear(x, msg, now);
    else if constexpr (is_one_of<Message, stamp_message, commit_message>)
      follower_.hear(x, now);
    else
      hear(x, msg, now);
  }
}

void replica_protocol::settle(time now) {
  if (leading_)
    leading_->stamps.settle(now);
  replies_.send(port_, id_, epoch().epoch);
  follower_.settle();
  update_next_tick(now);
}

void replica_protocol::tick(time now) {
  if (failure_)
    return;
  if (now - last_tick_ > options_.liveness_timeout / 2)
    excuse_silence(now); // this process was stopped
  last_tick_ = now;
  next_tick_ = now + tuning::replica_tick;
  follower_.tick(now);
  if (leading_) {
    leading_->stamps.tick(now);
    if (!leading_->members.tick(now)) {
      leading_.reset();
      if (epochs_.run(now))
        lead(now);
    }
    after_leading(now);
  } else if (epochs_.tick(now)) {
    lead(now);
  }
  if (now >= next_status_) {
    publish_status(now);
    follower_.acknowledge_to_leader(); // the last one may have been lost
  }
  settle(now);
}

void replica_protocol::update_next_tick(time now) {
  next_tick_ = std::min({next_tick_, next_status_, follower_.next_tick(now)});
  if (leading_)
    next_tick_ = std::min(next_tick_, leading_->stamps.next_tick(now));
  else if (const auto at = epochs_.next_tick())
    next_tick_ = std::min(next_tick_, *at);
}

void replica_protocol::excuse_silence(time now) {
  epochs_.heard_leader(now);
  others_.excuse_silence(now);
}

// -- others --------------------------------------------------------------------------------------

void replica_protocol::hear(const hello_message&, const data_message&, time now) {
  next_status_ = std::min<time>(next_status_, now + tuning::after_hello);
  next_tick_ = std::min(next_tick_, next_status_);
}

void replica_protocol::hear(const status_message& x, const data_message&, time now) {
  if (x.replica == id_)
    return;
  const bool known = others_.hear(x, now);
  if (x.name == name_ && known)
    contest_name(x, now);
  if (failure_ || epoch().group.is_nil())
    return;
  if (!x.group.is_nil() && x.group != epoch().group) {
    if (x.name != name_ && x.leads && (!leading_ || x.group < epoch().group))
      fail(errc::logic_error, "another group of this name has begun");
    return;
  }
  if (leading_)
    leading_->members.invite(x);
  if (x.replica == epoch().leader && x.leads && x.epoch == epoch().epoch && epoch().is_current())
    follower_.hear(x, now);
}

/// Of two replicas of a name the one that is a member stays, or the older one; where their ages
/// differ by less than a message may take, the one with the smaller id.
void replica_protocol::contest_name(const status_message& x, time now) {
  const bool member = state() == replica_state::member;
  const auto age = static_cast<std::int64_t>(milliseconds(now - begun_));
  const auto its_age = static_cast<std::int64_t>(std::min<std::uint64_t>(x.age_ms, 1ULL << 60));
  const bool same_age = std::abs(age - its_age) < 1'000;
  const bool stays = member != x.is_member ? member : same_age ? id_ < x.replica : age > its_age;
  if (!stays)
    fail(errc::invalid_argument,
         "another replica of this group is called '" + name_ + "': " + to_string(x.replica));
}

replica_state replica_protocol::state() const {
  if (failure_)
    return replica_state::closed;
  if (epoch().group.is_nil())
    return replica_state::joining;
  const bool member = epochs_.is_member() && epoch().is_current() &&
                      !has_role(replica_role::candidate) && (!leading_ || is_sequencer());
  return member ? replica_state::member : replica_state::catching_up;
}

void replica_protocol::publish_status(time now) {
  next_status_ = now + tuning::between_statuses(options_);
  port_.to_everyone(status(now));
  others_.forget_old(epoch().list.members, now);
}

status_message replica_protocol::status(time now) const {
  status_message x;
  x.group = epoch().group;
  x.replica = id_;
  x.name = name_;
  x.group_size = options_.group_size;
  x.age_ms = milliseconds(now - begun_);
  x.promised = epoch().promised;
  x.epoch = epoch().epoch;
  x.leads = is_sequencer();
  x.is_member = state() == replica_state::member;
  x.held = log_.end();
  x.commit = log_.commit();
  x.config = epoch().list.number;
  x.decided = epoch().decided;
  x.live = others_.count_alive(epoch().list.members, now);
  if (leading_)
    x.members = epoch().list.members;
  return x;
}

// -- epochs --------------------------------------------------------------------------------------

void replica_protocol::lead(time now) {
  ++counters_.elections;
  follower_.begin_epoch();
  leading_.emplace(*this, now);
  after_leading(now);
}

/// Tells others what has changed, and goes on with what was put aside while a replica joined.
void replica_protocol::after_leading(time now) {
  if (!leading_)
    return;
  if (leading_->members.take_changed())
    publish_status(now);
  for (const auto& each : leading_->stamps.take_held_back())
    receive(each, now);
}

void replica_protocol::hear(const prepare_message& x, const data_message&, time now) {
  if (!epochs_.accept(x, now))
    return;
  leading_.reset();
  publish_status(now);
  port_.to_replica(x.candidate, epochs_.promise(x.group));
}

void replica_protocol::hear(const promise_message& x, const data_message&, time now) {
  others_.heard(x.replica, now);
  if (epochs_.hear(x, now))
    lead(now);
}

void replica_protocol::hear(const start_message& x, const data_message&, time now) {
  if (!epochs_.may_follow(x))
    return;
  if (x.group_size != options_.group_size) {
    fail(errc::invalid_argument, "this group has a size of " + std::to_string(x.group_size) +
                                     ", this replica was made for " +
                                     std::to_string(options_.group_size));
    return;
  }
  if (epochs_.follow(x, now)) {
    leading_.reset();
    follower_.begin_epoch(x, now);
    publish_status(now);
  }
  follower_.acknowledge_to_leader();
}

void replica_protocol::hear(const held_message& x, const data_message&, time now) {
  if (!leading_ || x.group != epoch().group || x.epoch != epoch().epoch)
    return;
  others_.heard(x.replica, now);
  leading_->members.hear(x, now);
  after_leading(now);
}

// -- messages of clients -------------------------------------------------------------------------

void replica_protocol::submit(const submission& x, const data_message& msg, time now) {
  if (leading_)
    leading_->stamps.submit(x, msg, now);
}

void replica_protocol::hear(const submit_message& x, const data_message& msg, time now) {
  if (x.group == epoch().group)
    submit({x.client, x.first, x.settled, static_cast<versioning>(x.scheme), x.values}, msg, now);
}

void replica_protocol::hear(const request_message& x, const data_message& msg, time now) {
  if (x.group == epoch().group)
    submit({x.client, x.first, x.settled, versioning::version_request, {x.count, {}}}, msg, now);
}

void replica_protocol::hear(const tagged_message& x, const data_message& msg, time now) {
  if (x.group != epoch().group)
    return;
  if (!leading_)
    follower_.hear(x, msg, now);
  else if (x.sequencer == id_)
    submit({x.client, x.first, x.settled, versioning::tagged, x.values}, msg, now);
}

void replica_protocol::hear(const plain_message& x, const data_message& msg, time) {
  auto rest = x.values.bytes;
  for (std::uint64_t i = 0; i < x.values.count; ++i) {
    auto& next = unversioned_.emplace_back();
    next.value = data_view::from_valid(rest);
    rest = rest.subspan(next.value.bytes().size());
    next.client = x.client;
    next.client_number = x.first + i;
    next.storage = msg;
  }
  replies_.acknowledge(x.client, {x.first, x.values.count, {}, 0});
}

// -- the past ------------------------------------------------------------------------------------

void replica_protocol::hear(const fetch_message& x, const data_message&, time) {
  if (leading_)
    leading_->stamps.hear(x);
}

void replica_protocol::hear(const snapshot_message& x, const data_message& msg, time now) {
  if (!has_role(replica_role::follower) || x.at.number <= log_.end())
    return;
  if (!options_.restore) {
    fail(errc::not_supported, "what this replica has missed is in no history any more, and it has "
                              "no function to restore a snapshot");
    return;
  }
  log_.begin_after(x.at, x.clients);
  restore_.emplace(x, msg);
  follower_.owe_ack(true, now);
  follower_.fetch(now);
}

void replica_protocol::hear(const gone_message& x, const data_message&, time) {
  if (has_role(replica_role::follower) && x.oldest > log_.end() + 1)
    fail(errc::not_supported,
         "what this replica has missed is in no history any more: it needs number " +
             std::to_string(log_.end() + 1) + ", others go back to " + std::to_string(x.oldest) +
             " and give no snapshot");
}

// -- handing out ---------------------------------------------------------------------------------

std::size_t replica_protocol::take(std::vector<versioned_message>& out, std::size_t max) {
  std::size_t taken = 0;
  for (; taken < max && !unversioned_.empty(); ++taken) {
    out.push_back(std::move(unversioned_.front()));
    unversioned_.pop_front();
  }
  const auto begin = out.size();
  taken += log_.take(out, max - taken);
  for (auto i = begin; i < out.size(); ++i)
    counters_.voids += out[i].is_void() ? 1 : 0;
  counters_.handed_out += taken;
  return taken;
}

void replica_protocol::fail(errc code, std::string why) {
  if (!failure_)
    failure_ = {code, std::move(why)};
  leading_.reset();
  epochs_.step_down();
}

} // namespace pubsub::pattern
