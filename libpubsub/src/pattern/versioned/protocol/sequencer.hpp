// What the leader of a group does with messages: gives them versions, forwards and repeats them,
// and says which all members hold. Pure; exists while this replica leads.
#pragma once

#include <chrono>
#include <deque>
#include <optional>
#include <set>
#include <utility>

#include "pattern/versioned/protocol/client_replies.hpp"
#include "pattern/versioned/protocol/group_membership.hpp"

namespace pubsub::pattern {

/// Messages of a client that are to be stamped; without bytes where they come later.
struct submission {
  endpoint_id client;
  std::uint64_t first = 0, settled = 0;
  versioning scheme{};
  value_list values;
};

/// Not thread-safe.
class sequencer {
public:
  using time = std::chrono::steady_clock::time_point;

  sequencer(const endpoint_id& own, const replica_options& options, const epoch_state& epoch,
            const group_membership& members, replica_log& log, client_replies& replies,
            versioned_port& port, replica_counters& counters)
      : own_(own), options_(options), epoch_(epoch), members_(members), log_(log),
        replies_(replies), port_(port), counters_(counters), forwarded_(log.end()) {}

  /// Stamps messages that are the next of their client, and answers for those that have a version.
  /// While a replica joins the message is put aside.
  void submit(const submission& x, const data_message& msg, time now);
  /// What was put aside while a replica joined, once none joins any more.
  std::deque<data_message> take_held_back() {
    return members_.is_joining() ? std::deque<data_message>{} : std::exchange(held_back_, {});
  }
  void hear(const fetch_message& x);
  /// After several messages: what all members hold by now is committed.
  void settle(time now);
  void tick(time now);
  time next_tick(time now) const;

  bool needs_snapshot() const noexcept { return !need_snapshot_.empty(); }
  void send_snapshot(std::span<const std::byte> state);

private:
  bool is_new(const submission& x);
  void stamp(const submission& x, const data_message& msg, time now);
  void grant(const endpoint_id& client, const stamped_run& run, bool holds);
  void forward_pending();
  bool forward(const log_entry& entry);
  record_message record_of(const log_entry& entry, std::uint64_t flags) const;
  void complete(std::uint64_t from);

  const endpoint_id own_;
  const replica_options& options_;
  const epoch_state& epoch_;
  const group_membership& members_;
  replica_log& log_;
  client_replies& replies_;
  versioned_port& port_;
  replica_counters& counters_;

  std::uint64_t forwarded_; // numbers up to here
  std::deque<data_message> held_back_;
  std::optional<time> commit_owed_;
  std::set<endpoint_id> need_snapshot_;
};

} // namespace pubsub::pattern
