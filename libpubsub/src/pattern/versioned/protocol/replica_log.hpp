// The log of a replica: messages in the order of their numbers. Pure.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <iterator>
#include <map>
#include <span>
#include <unordered_map>
#include <vector>

#include <pubsub/data_message.hpp>
#include <pubsub/pattern/versioned.hpp>

#include "pattern/versioned/protocol/tuning.hpp"
#include "pattern/versioned/protocol/versioned_messages.hpp"

namespace pubsub::pattern {

/// Which messages of which client have got a version, so that none gets two. Follows the log: what
/// is added there is added here, what is taken back there is taken back here. Not thread-safe.
class client_numbers {
public:
  /// The versions of messages from `first` on; null if they have none, or it is long ago.
  const version_run* find(const endpoint_id& client, std::uint64_t first) const {
    const auto its = clients_.find(client);
    if (its == clients_.end())
      return nullptr;
    const auto& recent = its->second.recent;
    const auto run = std::ranges::find(recent, first, &version_run::client_first);
    return run == recent.end() ? nullptr : &*run;
  }
  /// Whether messages from `first` on are the next of their client, which awaits none below
  /// `settled`.
  bool is_next(const endpoint_id& client, std::uint64_t first, std::uint64_t settled) const {
    const auto its = clients_.find(client);
    return first == std::max(its == clients_.end() ? 1 : its->second.next, settled);
  }
  void add(const endpoint_id& client, const version_run& run) {
    auto& its = clients_[client];
    its.client = client;
    its.next = std::max(its.next, run.client_first + run.count);
    its.recent.push_back(run);
    if (its.recent.size() > tuning::most_recent_runs)
      its.recent.erase(its.recent.begin());
    if (clients_.size() > tuning::most_clients)
      forget_half();
  }
  /// Takes back the last run that was added of this client; no effect if it was another run.
  void take_back(const endpoint_id& client, const version_run& run) {
    const auto its = clients_.find(client);
    if (its == clients_.end() || its->second.recent.empty() ||
        its->second.recent.back().at != run.at)
      return;
    its->second.recent.pop_back();
    its->second.next = run.client_first;
  }

  std::vector<client_progress> all() const {
    std::vector<client_progress> result;
    for (const auto& [client, its] : clients_)
      result.push_back(its);
    return result;
  }
  void assign(const std::vector<client_progress>& all) {
    clients_.clear();
    for (const auto& each : all)
      clients_[each.client] = each;
  }

private:
  /// Keeps the clients that have sent last.
  void forget_half() {
    const auto last_of = [](const auto& each) {
      return each.second.recent.empty() ? 0 : each.second.recent.back().at.number;
    };
    std::vector<std::uint64_t> last;
    std::ranges::transform(clients_, std::back_inserter(last), last_of);
    const auto middle = last.begin() + static_cast<std::ptrdiff_t>(last.size() / 2);
    std::ranges::nth_element(last, middle);
    std::erase_if(clients_, [&](const auto& each) { return last_of(each) < *middle; });
  }

  std::unordered_map<endpoint_id, client_progress> clients_;
};

/// Messages that got their versions together.
struct log_entry {
  endpoint_id client{}; ///< nil: the numbers are void
  version_run run{};
  value_list values{};
  data_message storage{};  ///< keeps the bytes of the values
  bool here = true;        ///< false: the numbers are given, the messages are to come
  std::uint64_t flags = 0; ///< record_flag
  bool notify = false;     ///< the client waits until it is committed
  time_point since{};

  std::uint64_t first() const noexcept { return run.at.number; }
  std::uint64_t last() const noexcept { return run.last(); }
};

/// Numbers without gap up to `end`, and further ones beside them. Entries at `commit` or below are
/// held by all members and never change; entries that were handed out are kept for a while, for
/// replicas that come late. Not thread-safe.
class replica_log {
public:
  enum class place_result : std::uint8_t { placed, known, refused };

  /// The limits hold for what was handed out.
  replica_log(std::size_t history_messages, std::size_t history_bytes)
      : history_messages_(history_messages), history_bytes_(history_bytes) {}

  /// The last number without gap.
  std::uint64_t end() const noexcept { return end_; }
  /// The last number that all members hold.
  std::uint64_t commit() const noexcept { return commit_; }
  /// The last number up to which all messages are here, and its version.
  std::uint64_t here() const noexcept { return here_; }
  message_version held() const;
  /// The last version that was handed out.
  const message_version& applied() const noexcept { return given_; }
  /// The numbers up to this one are in no history any more.
  std::uint64_t forgotten() const noexcept {
    return entries_.empty() ? end_ : entries_.front().first() - 1;
  }
  bool has_gap() const noexcept { return !beside_.empty(); }

  /// Adds the entry that follows the last one.
  void append(log_entry what);
  /// Adds an entry by its number: behind the last one, beside, or in place of one to come.
  place_result place(log_entry what);
  /// Commits up to `number`, but never further than what is here; false: that changes nothing.
  bool commit_to(std::uint64_t number);
  /// The entry that has this number; null if it lies beside, or is forgotten.
  log_entry* find(std::uint64_t number);

  /// The epochs of the numbers above the commit; those of messages to come are void in `epoch`.
  std::vector<epoch_run> epochs(std::uint64_t epoch) const;
  /// An epoch begins: above the commit only what its leader has as well stays; nothing, where the
  /// message is empty.
  void conform(const start_message& x);

  /// Hands out messages that are committed, at most `max`.
  std::size_t take(std::vector<versioned_message>& out, std::size_t max);
  std::uint64_t available() const noexcept { return commit_ - given_.number; }
  /// The size of messages that were not handed out, committed or not.
  std::size_t waiting_bytes() const noexcept { return bytes_ - given_bytes_; }
  /// Nothing or all of each entry was handed out: another replica can go on from here.
  bool is_between_entries();

  /// Begins anew after `at`: the state of another replica stands for everything up to it.
  void begin_after(const message_version& at, const std::vector<client_progress>& clients);
  const client_numbers& clients() const noexcept { return clients_; }
  /// Clients as they were when the last message that was handed out got its version.
  std::vector<client_progress> clients_when_given() const;

private:
  using entries_type = std::deque<log_entry>;

  entries_type::iterator at(std::uint64_t number);
  void advance_here();
  void trim();

  const std::size_t history_messages_;
  const std::size_t history_bytes_;
  entries_type entries_; // without gap up to end_
  std::map<std::uint64_t, log_entry> beside_;
  client_numbers clients_; // of entries_
  std::uint64_t end_ = 0;
  std::uint64_t here_ = 0;
  std::uint64_t commit_ = 0;
  message_version given_;
  std::span<const std::byte> rest_; // of the entry that is being handed out
  std::size_t bytes_ = 0;           // of entries_
  std::size_t given_bytes_ = 0;
};

} // namespace pubsub::pattern
