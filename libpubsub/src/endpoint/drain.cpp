// SPDX-License-Identifier: BSD-3-Clause
#include "endpoint/core.hpp"

#include <algorithm>
#include <map>
#include <optional>

namespace pubsub {

namespace {

constexpr std::chrono::microseconds first_pause{100};
constexpr std::chrono::microseconds longest_pause{5'000};

/// What has come into a queue so far. A message that found no room never came in, nor one that was
/// not wanted.
template <class Counters>
std::uint64_t taken_in(const Counters& x) {
  return x.offered - x.dropped_newest - x.dropped_overflow;
}
std::uint64_t taken_in(const subscriber_counters& x) {
  return taken_in<subscriber_counters>(x) - x.filtered;
}

/// What the local subscribers held when it was made, and how much of that they still hold.
class local_rest {
public:
  explicit local_rest(const subscriber_list& all) : subscribers_(all) {
    subscribers_.visit(
        [this](const subscriber_core& each) { marks_[each.id()] = taken_in(each.counters()); });
  }

  std::uint64_t count() const {
    std::uint64_t left = 0;
    subscribers_.visit([&](const subscriber_core& each) {
      const auto mark = marks_.find(each.id()); // one that was closed has counted what it dropped
      if (mark == marks_.end())
        return;
      const auto now = each.counters();
      const auto gone_out = taken_in(now) - now.queued;
      left += mark->second - std::min(mark->second, gone_out);
    });
    return left;
  }

private:
  const subscriber_list& subscribers_;
  std::map<subscriber_id, std::uint64_t> marks_;
};

/// What was published here and has not yet been read by one peer. Once all of it is written the
/// peer is asked to answer: a question never waits behind messages, and so must not be asked
/// before.
class peer_rest {
public:
  explicit peer_rest(std::shared_ptr<session> who)
      : who_(std::move(who)), mark_(taken_in(outbox_now())) {}
  peer_rest(peer_rest&&) = default;
  ~peer_rest() {
    if (who_ && asked_)
      who_->give_up(asked_->number);
  }

  void look() {
    if (const auto now = outbox_now(); !asked_ && taken_in(now) - now.queued >= mark_)
      asked_ = who_->ask_whether_read();
  }
  /// There will be no other answer. (A link that has closed has nothing queued.)
  bool settled() const { return asked_ && wait_until_settled(asked_->answer, immediately()); }
  std::uint64_t count() const {
    if (settled() && asked_->answer.get().outcome == wire::reply_outcome::answer)
      return 0;
    const auto now = outbox_now();
    const auto written = taken_in(now) - now.queued - now.dropped_gone;
    return std::max<std::uint64_t>(mark_ - std::min(mark_, written), 1);
  }

private:
  /// Of what this endpoint publishes; messages of others may have outboxes of their own.
  link_counters outbox_now() const { return who_->carrier()->out().counters(); }

  std::shared_ptr<session> who_;
  std::uint64_t mark_;
  std::optional<inquiries::ticket> asked_;
};

} // namespace

std::size_t endpoint_core::drain(std::chrono::nanoseconds timeout) {
  const auto until = deadline_after(timeout);
  const local_rest local{subscribers_};
  std::vector<peer_rest> peers;
  for (auto& each : peering_->established())
    peers.emplace_back(std::move(each));
  const auto all_settled = [&] { return std::ranges::all_of(peers, &peer_rest::settled); };
  const auto in_time = [&] { return !until || std::chrono::steady_clock::now() < *until; };
  // Neither consumers nor writers tell anybody when they take something; they are looked at.
  auto left = local.count();
  for (auto pause = first_pause;;
       pause = std::min(2 * pause, longest_pause), left = local.count()) {
    std::ranges::for_each(peers, &peer_rest::look);
    if ((left == 0 && all_settled()) || closed() || !in_time())
      break;
    std::this_thread::sleep_for(pause);
  }
  for (const auto& each : peers)
    left += each.count();
  return left;
}

} // namespace pubsub
