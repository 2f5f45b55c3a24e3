// What a replica holds: messages in the order of their numbers. Pure.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <vector>

#include <pubsub/data_message.hpp>
#include <pubsub/pattern/versioned.hpp>

#include "pattern/versioned/client_numbers.hpp"
#include "pattern/versioned/versioned_messages.hpp"

namespace pubsub::pattern {

/// Messages that were stamped together.
struct log_entry {
  endpoint_id client; ///< nil: void
  stamped_run run;
  value_list values;
  data_message storage; ///< keeps the values
  bool here = true;     ///< false: the number is given, the messages are to come
  std::uint64_t wishes = 0;
  bool notify = false; ///< the client waits for the commit
  std::chrono::steady_clock::time_point since{};

  std::uint64_t first() const noexcept { return run.at.number; }
  std::uint64_t last() const noexcept { return run.at.number + run.count - 1; }
};

/// Numbers without gap up to `end`, further ones beside them. What is at `commit` or below is held
/// by all and never changes; what was handed out is kept for a while for those that come late. Not
/// thread-safe.
class replica_log {
public:
  enum class place_result : std::uint8_t { placed, known, refused };

  /// Kept of what was handed out, at most.
  replica_log(std::size_t history_messages, std::size_t history_bytes)
      : history_messages_(history_messages), history_bytes_(history_bytes) {}

  std::uint64_t end() const noexcept { return end_; }       ///< last number without gap
  std::uint64_t commit() const noexcept { return commit_; } ///< last that all hold
  std::uint64_t given() const noexcept { return given_.number; }
  const message_version& applied() const noexcept { return given_; }
  message_version held() const;
  /// Last number up to which all messages are here.
  std::uint64_t here() const noexcept { return here_; }
  /// Numbers that are in no history any more.
  std::uint64_t forgotten() const noexcept {
    return entries_.empty() ? end_ : entries_.front().first() - 1;
  }
  bool has_gap() const noexcept { return !beside_.empty(); }

  /// Behind the last one.
  log_entry& append(log_entry what);
  /// By its number: behind the last one, beside, or in place of one that is to come.
  place_result place(log_entry what);
  /// Returns false if it was as far already; never further than what is here.
  bool commit_to(std::uint64_t number);
  /// The entry that has this number; null if it is not without gap, or forgotten.
  log_entry* find(std::uint64_t number);
  /// The first whose messages are to come, or null.
  const log_entry* awaited() const;

  /// Above `commit` only what has these epochs stays; above `end` nothing. Runs of `epoch` are
  /// void.
  void conform(std::uint64_t commit, std::uint64_t end, const std::vector<epoch_run>& runs,
               std::uint64_t epoch);
  /// What is not committed goes.
  void drop_uncommitted() { conform(commit_, commit_, {}, 0); }
  /// What is to come is void in this epoch, and what is beside goes.
  void close_gaps(std::uint64_t epoch);
  /// The epochs of numbers above the commit.
  std::vector<epoch_run> epochs() const;

  /// Hands out what is committed, at most so many.
  std::size_t take(std::vector<versioned_message>& out, std::size_t max);
  std::uint64_t available() const noexcept { return commit_ - given_.number; }
  /// Of what waits to be handed out, and what is not committed yet.
  std::size_t waiting_bytes() const noexcept { return bytes_ - given_bytes_; }

  /// The past is another replica's: all up to `at` is in its state.
  void begin_after(const message_version& at, const std::vector<client_progress>& clients);
  /// Clients as they were when what was handed out was all there was.
  std::vector<client_progress> clients_when_given() const;
  client_numbers& clients() noexcept { return clients_; }

private:
  using entries_type = std::deque<log_entry>;

  entries_type::iterator at(std::uint64_t number);
  void push(log_entry what);
  void join_beside();
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
  message_version begun_;           // the state that was taken over
  std::span<const std::byte> rest_; // of the entry that is being handed out
  std::size_t bytes_ = 0;           // of entries_
  std::size_t given_bytes_ = 0;
};

} // namespace pubsub::pattern
