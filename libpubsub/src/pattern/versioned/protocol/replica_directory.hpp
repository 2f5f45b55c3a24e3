// The other replicas of a name: what each said last, and whether it is alive. Pure.
#pragma once

#include <chrono>
#include <map>
#include <string>

#include "pattern/versioned/protocol/member_list.hpp"
#include "pattern/versioned/protocol/tuning.hpp"
#include "pattern/versioned/protocol/versioned_messages.hpp"

namespace pubsub::pattern {

/// A replica is alive while it is within reach and was heard within the liveness timeout. Not
/// thread-safe.
class replica_directory {
public:
  using time = std::chrono::steady_clock::time_point;

  replica_directory(const endpoint_id& own, std::string own_name, const replica_options& options)
      : own_(own), own_name_(std::move(own_name)), options_(options) {}

  /// Returns whether the replica was heard earlier than now.
  bool hear(const status_message& x, time now);
  /// A known replica has said something else.
  void heard(const endpoint_id& id, time now);
  /// It was within reach and is not any more.
  void lose(const endpoint_id& id);
  /// This process has not read: that others were silent says nothing about them.
  void excuse_silence(time now);
  /// Forgets replicas that were silent for long and do not belong to `members`.
  void forget_old(const id_list& members, time now);

  bool is_alive(const endpoint_id& id, time now) const;
  bool is_gone(const endpoint_id& id) const;
  std::size_t count_alive(const id_list& all, time now) const;
  /// Null for this replica, and for one that was never heard.
  const status_message* status_of(const endpoint_id& id) const;
  id_list all() const;

  /// Whether a replica that is alive has promised a later epoch of this group.
  bool is_overtaken(const endpoint_id& group, std::uint64_t epoch, time now) const;
  std::uint64_t highest_promise() const;
  /// A replica that is alive belongs to a group.
  bool knows_group(time now) const;
  /// Those that are alive and have never belonged to a group, this one included, by id.
  id_list without_group(time now) const;

private:
  struct entry {
    status_message status;
    time first_heard{};
    time heard{};
    bool gone = false; // out of reach
  };

  bool is_alive(const entry& x, time now) const {
    return !x.gone && now - x.heard <= options_.liveness_timeout;
  }

  const endpoint_id own_;
  const std::string own_name_;
  const replica_options& options_;
  std::map<endpoint_id, entry> entries_;
};

} // namespace pubsub::pattern
