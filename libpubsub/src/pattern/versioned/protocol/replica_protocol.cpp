// SPDX-License-Identifier: BSD-3-Clause
#include "pattern/versioned/protocol/replica_protocol.hpp"

namespace pubsub::pattern {

replica_protocol::replica_protocol(const endpoint_id& id, std::string name,
                                   const replica_options& options, versioned_port& port,
                                   time_point now)
    : self_(id, std::move(name), options, port), begun_(now), epochs_(self_, now), follower_(self_),
      next_status_(now), next_tick_(now), last_tick_(now) {}

// -- messages and the time -----------------------------------------------------------------------

void replica_protocol::receive(const data_message& msg, time_point now) {
  if (failure_)
    return;
  const auto what = parse_message(get_view(msg));
  const auto take = [&](const auto& x) {
    if constexpr (requires { x.from(); })
      if (!speakers_.is_own_word(x.from(), msg, now))
        return false;
    hear(x, msg, now);
    return true;
  };
  if (!what || !std::visit(take, *what))
    ++self_.counters.refused;
  follow_role(now);
}

/// What a leader sends within an epoch is void in any other, and so is what others send as its.
bool replica_protocol::refuses(const endpoint_id& group, std::uint64_t epoch,
                               const endpoint_id& from, const data_message& msg, time_point now) {
  const bool current = group == self_.epoch.group && epoch == self_.epoch.number &&
                       self_.epoch.is_current() && speakers_.is_own_word(from, msg, now);
  self_.counters.refused += current ? 0 : 1;
  return !current;
}

void replica_protocol::settle(time_point now) {
  if (leading_)
    leading_->versions.settle(now);
  self_.replies.send(self_.port, self_.id, self_.epoch.number);
  follower_.settle(now);
  next_tick_ = std::min({next_tick_, next_status_, follower_.next_tick(now),
                         leading_ ? leading_->versions.next_tick(now) : epochs_.next_tick()});
}

void replica_protocol::tick(time_point now) {
  if (failure_)
    return;
  if (now - last_tick_ > self_.options.liveness_timeout / 2)
    excuse_silence(now); // this process was stopped
  last_tick_ = now;
  next_tick_ = now + tuning::replica_tick;
  follower_.tick(now);
  if (leading_) {
    leading_->versions.tick(now);
    if (!leading_->members.tick(now)) {
      leading_.reset();
      epochs_.run(now);
    }
  } else {
    epochs_.tick(now);
  }
  follow_role(now);
  if (now >= next_status_) {
    publish_status(now);
    follower_.owe_ack(now); // the last one may have been lost
  }
  settle(now);
}

void replica_protocol::excuse_silence(time_point now) {
  self_.leader_heard = now;
  self_.others.excuse_silence(now);
}

// -- others --------------------------------------------------------------------------------------

void replica_protocol::hear(const hello_message&, const data_message&, time_point now) {
  next_status_ = std::min<time_point>(next_status_, now + tuning::after_hello);
}

void replica_protocol::hear(const status_message& x, const data_message&, time_point now) {
  if (x.replica == self_.id)
    return;
  const bool known = self_.others.hear(x, now);
  epochs_.hear(x);
  if (x.name == self_.name && known)
    contest_name(x, now);
  if (failure_ || self_.epoch.group.is_nil())
    return;
  if (!x.at.group.is_nil() && x.at.group != self_.epoch.group) {
    if (x.name != self_.name && x.leads && (!leading_ || x.at.group < self_.epoch.group))
      fail(errc::logic_error, "another group of this name has begun");
    return;
  }
  if (leading_)
    leading_->members.invite(x);
  if (x.replica == self_.epoch.leader && x.leads && x.at.number == self_.epoch.number &&
      self_.epoch.is_current())
    follower_.hear_leader(x, now);
}

/// Of two replicas of a name the one that is a member stays, or the older one; where their ages
/// differ by less than a message may take, the one with the smaller id.
void replica_protocol::contest_name(const status_message& x, time_point now) {
  const bool member = state() == replica_state::member;
  const auto its_age = std::chrono::milliseconds{std::min<std::uint64_t>(x.age_ms, 1ULL << 40)};
  const auto older_by = now - begun_ - its_age;
  const bool same_age = std::chrono::abs(older_by) < std::chrono::seconds{1};
  const bool stays = member != x.is_member ? member
                     : same_age            ? self_.id < x.replica
                                           : older_by.count() > 0;
  if (!stays)
    fail(errc::invalid_argument,
         "another replica of this group is called '" + self_.name + "': " + to_string(x.replica));
}

replica_state replica_protocol::state() const {
  if (failure_)
    return replica_state::closed;
  if (self_.epoch.group.is_nil())
    return replica_state::joining;
  const bool member = self_.is_member() && self_.epoch.is_current() &&
                      (self_.epoch.leads() || self_.epoch.follows());
  return member ? replica_state::member : replica_state::catching_up;
}

void replica_protocol::publish_status(time_point now) {
  next_status_ = now + tuning::between_statuses(self_.options);
  const auto age = std::chrono::floor<std::chrono::milliseconds>(now - begun_).count();
  const auto& members = self_.epoch.list.members;
  self_.port.to_everyone(status_message{.replica = self_.id,
                                        .name = self_.name,
                                        .group_size = self_.options.group_size,
                                        .age_ms = static_cast<std::uint64_t>(age),
                                        .at = self_.epoch,
                                        .leads = self_.epoch.leads(),
                                        .is_member = state() == replica_state::member,
                                        .held = log().end(),
                                        .commit = log().commit(),
                                        .live = self_.others.count_alive(members, now)});
  self_.others.forget_old(members, now);
}

// -- epochs --------------------------------------------------------------------------------------

/// Leads while it has the role: others hear what has changed, and what was put aside while a
/// replica joined goes on.
void replica_protocol::follow_role(time_point now) {
  if (self_.epoch.role != replica_role::leader) {
    leading_.reset();
    return;
  }
  if (!leading_) {
    ++self_.counters.elections;
    leading_.emplace(self_, now);
    follower_.begin_epoch(leading_->members.start(), now);
  }
  if (leading_->members.take_changed())
    publish_status(now);
  for (const auto& each : leading_->versions.take_held_back())
    receive(each, now);
}

void replica_protocol::hear(const prepare_message& x, const data_message&, time_point now) {
  if (epochs_.accept(x, now))
    publish_status(now);
}

void replica_protocol::hear(const start_message& x, const data_message&, time_point now) {
  if (!epochs_.may_follow(x, now))
    return;
  if (x.group_size != self_.options.group_size) {
    fail(errc::invalid_argument, "this group has a size of " + std::to_string(x.group_size) +
                                     ", this replica was made for " +
                                     std::to_string(self_.options.group_size));
    return;
  }
  if (epochs_.follow(x, now)) {
    follower_.begin_epoch(x, now);
    publish_status(now);
  }
  follower_.owe_ack(now);
}

void replica_protocol::hear(const held_message& x, const data_message&, time_point now) {
  if (!leading_ || x.group != self_.epoch.group || x.epoch != self_.epoch.number)
    return;
  self_.others.heard(x.replica, now);
  leading_->members.hear(x, now);
  if (x.lacks_next)
    leading_->versions.repeat(x);
}

// -- messages ------------------------------------------------------------------------------------

void replica_protocol::hear(const submit_message& x, const data_message& msg, time_point now) {
  if (x.asks(versioning::none))
    hand_out_unversioned(x, msg);
  else if (x.group != self_.epoch.group)
    return;
  else if (leading_ && x.leader == self_.id)
    leading_->versions.submit(x, msg, now);
  else if (!leading_ && x.asks(versioning::tagged))
    follower_.hear_body(x, msg, now);
}

void replica_protocol::hand_out_unversioned(const submit_message& x, const data_message& msg) {
  auto rest = x.values.bytes;
  for (std::uint64_t i = 0; i < x.count; ++i) {
    const auto value = data_view::from_valid(rest);
    rest = rest.subspan(value.bytes().size());
    unversioned_.push_back({{}, value, x.client, x.first + i, msg});
  }
  self_.replies.add(x.client, reply::held, {x.first, x.count, {}, 0});
}

void replica_protocol::hear(const record_message& x, const data_message& msg, time_point now) {
  const bool of_client = (x.flags & record_flag::from_client) != 0;
  if (!refuses(x.group, x.epoch, of_client ? x.client : self_.epoch.leader, msg, now))
    follower_.hear(x, msg, now);
}

void replica_protocol::hear(const commit_message& x, const data_message& msg, time_point now) {
  if (!refuses(x.group, x.epoch, self_.epoch.leader, msg, now))
    follower_.hear_leader(x.commit, now);
}

void replica_protocol::hear(const snapshot_message& x, const data_message& msg, time_point now) {
  const auto next = log().end() + 1;
  if (refuses(x.group, x.epoch, self_.epoch.leader, msg, now) || !self_.epoch.follows() ||
      x.at.number < next)
    return;
  if (x.state.count == 0)
    fail(errc::not_supported,
         "what this replica has missed is in no history any more: it needs number " +
             std::to_string(next) + ", others go back to " + std::to_string(x.at.number + 1) +
             " and give no snapshot");
  else if (!self_.options.restore)
    fail(errc::not_supported, "what this replica has missed is in no history any more, and it has "
                              "no function to restore a snapshot");
  if (failure_)
    return;
  self_.log.begin_after(x.at, x.clients);
  restore_.emplace(x, msg);
  follower_.owe_ack(now);
  follower_.fetch(now);
}

// -- handing out ---------------------------------------------------------------------------------

std::size_t replica_protocol::take(std::vector<versioned_message>& out, std::size_t max) {
  const auto before = out.size();
  for (; max > 0 && !unversioned_.empty(); --max) {
    out.push_back(std::move(unversioned_.front()));
    unversioned_.pop_front();
  }
  self_.log.take(out, max);
  for (auto i = before; i < out.size(); ++i)
    self_.counters.voids += out[i].is_void() ? 1 : 0;
  self_.counters.handed_out += out.size() - before;
  return out.size() - before;
}

void replica_protocol::fail(errc code, std::string why) {
  if (!failure_)
    failure_ = {code, std::move(why)};
  self_.epoch.role = replica_role::follower;
}

} // namespace pubsub::pattern
