// Versioned delivery: several servers hold the same messages under the same versions (article 002).
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <pubsub/data.hpp>
#include <pubsub/data_message.hpp>
#include <pubsub/data_view.hpp>
#include <pubsub/endpoint.hpp>
#include <pubsub/endpoint_id.hpp>
#include <pubsub/error.hpp>
#include <pubsub/pattern/versioned_options.hpp>

namespace pubsub {

namespace pattern {
class group_core;
class replica_core;
} // namespace pattern

/// What a replica hands out. Movable, and copies share the value.
struct versioned_message {
  /// Number 0 where the client uses scheme `none`.
  message_version version;
  /// Valid as long as the message or a copy of it is.
  data_view value;
  /// Who sent it, and which of its messages it is; nil and 0 where the number is void.
  endpoint_id client;
  std::uint64_t client_number = 0;

  /// The client was lost between getting this version and sending its message: all replicas agree
  /// that there is none. Handed out so that numbers have no gap.
  bool is_void() const noexcept { return client.is_nil(); }

  data_message storage; ///< keeps the value
};

/// One of the servers of a group. All that count hand out the same messages under the same
/// versions, in the order of their numbers and without gap; each message once. What was handed out
/// is never taken back. Every member from any thread. The endpoint must outlive it.
class replica {
public:
  /// Finds the others of its group by name, in any order of starting, wherever messages of this
  /// endpoint reach.
  replica(endpoint& at, std::string_view name, const replica_options& options = {});
  replica(replica&&) noexcept;
  replica& operator=(replica&&) noexcept;
  /// Closes.
  ~replica();

  /// The next message; blocks until there is one. Nothing once closed.
  std::optional<versioned_message> get();
  /// The same, at most so long.
  std::optional<versioned_message> get(std::chrono::nanoseconds timeout);
  /// The next messages, those that are here, at most so many; blocks until there is one. None once
  /// closed.
  std::vector<versioned_message> get_batch(std::size_t max);
  std::vector<versioned_message> get_batch(std::size_t max, std::chrono::nanoseconds timeout);

  /// The last that was handed out, or that `restore` was called with.
  message_version applied() const;
  /// The last of those that are here without gap, whether others hold them or not.
  message_version held() const;
  replica_state state() const;
  /// It stamps now.
  bool stamping() const;
  /// Replicas that count, as far as this one knows.
  std::size_t replicas() const;
  /// Waits until this one counts. False at the timeout, or once closed.
  bool wait_until_counting(std::chrono::nanoseconds timeout) const;
  /// As in the options, or what was made in its place.
  const std::string& id() const noexcept;
  replica_counters counters() const;

  /// Leaves the group at once, as if it were lost. Ends waits.
  void close();
  bool closed() const;
  /// Why it has closed by itself: invalid_argument, an option, an id that another replica has, or a
  /// `group_size` that others do not share; not_supported, what it has missed is in no history any
  /// more and nobody gives a snapshot; logic_error, another group of this name has begun. `none` if
  /// it has not.
  error failure() const;

private:
  std::shared_ptr<pattern::replica_core> core_;
};

/// What became of a message that was posted.
struct versioned_completion {
  std::uint64_t client_number = 0;
  message_version version; ///< number 0 with scheme `none`, or where there is an error
  /// As `versioned_group::send`.
  pubsub::error error;
};

/// A client of a group of replicas. Numbers its messages from 1; each is handed out once, and
/// messages of one client in the order of their numbers. Every member from any thread. The endpoint
/// must outlive it.
class versioned_group {
public:
  versioned_group(endpoint& at, std::string_view name, const versioned_group_options& options = {});
  versioned_group(versioned_group&&) noexcept;
  versioned_group& operator=(versioned_group&&) noexcept;
  /// Closes without waiting.
  ~versioned_group();

  /// Sends a message, and waits until all replicas that count hold it, at most
  /// `versioned_group_options::timeout`. Errors: peer_unavailable (nobody has taken it, and nobody
  /// will), request_timeout (not all have acknowledged: it may have been taken, or be taken still),
  /// limit_exceeded (the value is too long; it is not sent), shutting_down (closed: it may have
  /// been taken), and those of `failure`. The context says how many replicas count or which one has
  /// not answered.
  expected<message_version> send(const data& value);
  /// The value in bin::v1; must be valid.
  expected<message_version> send_encoded(std::span<const std::byte> value);

  /// Sends a message and returns its number as soon as there is room in the window. What becomes of
  /// it `take_completions` tells. Errors: limit_exceeded, shutting_down, and those of `failure`:
  /// then it is not sent.
  expected<std::uint64_t> post(const data& value);
  expected<std::uint64_t> post_encoded(std::span<const std::byte> value);
  /// Many messages, cheaper than one by one: values in bin::v1, one behind the other; must be
  /// valid. Blocks while the window is full. Returns the number of the last; after an error
  /// `counters` tell how many were sent.
  expected<std::uint64_t> post_batch(std::span<const std::byte> values);

  /// What was posted goes now, and does not wait for company.
  void flush();
  /// Waits until nothing is in flight; returns how many messages are not acknowledged.
  std::size_t drain(std::chrono::nanoseconds timeout);
  /// Completions that were not taken yet, of messages that were posted, in no order; waits for the
  /// first. Nothing at the timeout. At most 1,000,000 are kept: the oldest go first.
  std::vector<versioned_completion> take_completions(std::chrono::nanoseconds timeout);

  /// Waits until so many replicas count.
  bool wait_for_replicas(std::size_t n, std::chrono::nanoseconds timeout) const;
  /// Replicas that count, as far as is known here.
  std::size_t replicas() const;
  /// Messages sent and not acknowledged.
  std::size_t in_flight() const;
  /// What replicas know this client by.
  const endpoint_id& id() const noexcept;
  versioned_group_counters counters() const;

  /// Ends waits; messages in flight are abandoned: call `drain` before.
  void close();
  bool closed() const;
  /// Why it has closed by itself: invalid_argument, an option; logic_error, the group has lost its
  /// state and begun anew. `none` if it has not.
  error failure() const;

private:
  std::shared_ptr<pattern::group_core> core_;
};

} // namespace pubsub
