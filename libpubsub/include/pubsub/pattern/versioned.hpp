// Versioned delivery: several servers hold the same messages under the same versions.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <pubsub/data_message.hpp>
#include <pubsub/data_view.hpp>
#include <pubsub/endpoint.hpp>
#include <pubsub/error.hpp>
#include <pubsub/export.hpp>
#include <pubsub/pattern/versioned_options.hpp>
#include <pubsub/publishable.hpp>
#include <pubsub/received.hpp>
#include <pubsub/value/endpoint_id.hpp>

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
  /// The client that has sent the message, and its number there; nil and 0 where it is void.
  endpoint_id client;
  std::uint64_t client_number = 0;

  /// The client was lost between getting this version and sending its message: all replicas agree
  /// that there is none. It is handed out so that numbers have no gap.
  bool is_void() const noexcept { return client.is_nil(); }

  data_message storage; ///< keeps the bytes of the value
};

/// One of the servers of a group. All members hand out the same messages under the same versions,
/// in the order of their numbers and without gap; each message once. What was handed out is never
/// taken back. Thread-safe. Shares the core of the endpoint, which may be moved or destroyed.
class PUBSUB_EXPORT replica {
public:
  /// Joins the group of this name: finds the other replicas wherever messages of the endpoint
  /// reach, in whatever order they start. Does not block. Errors: invalid_argument, an option is
  /// out of range; shutting_down, the endpoint is closed.
  [[nodiscard]] static expected<replica> open(const endpoint& at, std::string_view name,
                                              const replica_options& options = {});
  replica(replica&&) noexcept;
  replica& operator=(replica&&) noexcept;
  /// Closes.
  ~replica();

  /// The next message. Blocks until there is one, or the replica is closed. Calls
  /// `replica_options::snapshot` and `restore` where others or this replica need it, and throws
  /// what they throw.
  received<versioned_message> get();
  /// As `get`, but blocks for `timeout` at most.
  received<versioned_message> get_for(std::chrono::nanoseconds timeout);
  /// As `get`, but never blocks: `timeout` where no message is here.
  received<versioned_message> try_get();
  /// The next messages that are here, at least one and at most `max`, which is at least 1. Blocks
  /// as `get`.
  received<std::vector<versioned_message>> get_batch(std::size_t max);
  /// As `get_batch`, but blocks for `timeout` at most.
  received<std::vector<versioned_message>> get_batch_for(std::size_t max,
                                                         std::chrono::nanoseconds timeout);

  /// The last version that was handed out, or that `restore` was called with.
  message_version applied() const;
  /// The last version up to which all messages are here, whether other replicas hold them or not.
  message_version held() const;
  /// What it is for its group now.
  replica_state state() const;
  /// This replica gives versions to messages now.
  bool is_sequencer() const;
  /// Members that are alive, as far as this replica knows.
  std::size_t replicas() const;
  /// Whether this replica is a member. Blocks until it is, for `timeout` at most, or until closed.
  [[nodiscard]] bool wait_ready(std::chrono::nanoseconds timeout) const;
  /// As in the options, or the random id that was made in its place.
  const std::string& id() const noexcept;
  replica_counters counters() const;

  /// Leaves the group at once, as if the process had ended. Ends waits. Idempotent.
  void close();
  bool closed() const;
  /// Why the replica had to leave its group: invalid_argument, another replica has this id, or
  /// others have another `group_size`; not_supported, what it has missed is in no history any more
  /// and there is no snapshot; logic_error, another group of this name has begun. `none` otherwise.
  error failure() const;

private:
  explicit replica(std::shared_ptr<pattern::replica_core> core) noexcept;

  std::shared_ptr<pattern::replica_core> core_;
};

/// What has become of a message that was posted.
struct versioned_completion {
  std::uint64_t client_number = 0;
  message_version version; ///< number 0 with scheme `none`, or where there is an error
  /// As `versioned_group::send`.
  pubsub::error error;
};

/// A client of a group of replicas. Numbers its messages from 1; each is handed out once, and
/// messages of one client in the order of their numbers. Thread-safe. Shares the core of the
/// endpoint, which may be moved or destroyed.
class PUBSUB_EXPORT versioned_group {
public:
  /// Does not block, and does not wait for replicas. Errors: invalid_argument, an option is out of
  /// range; shutting_down, the endpoint is closed.
  [[nodiscard]] static expected<versioned_group> open(const endpoint& at, std::string_view name,
                                                      const versioned_group_options& options = {});
  versioned_group(versioned_group&&) noexcept;
  versioned_group& operator=(versioned_group&&) noexcept;
  /// Closes without waiting.
  ~versioned_group();

  /// Sends a message. Blocks until all members hold it, at most for
  /// `versioned_group_options::timeout`. Encoded bytes must be valid. Errors: peer_unavailable, it
  /// was not sent; request_timeout, not all members have acknowledged it and it may be handed out
  /// or not; limit_exceeded, the value is too long and was not sent; shutting_down, closed, and it
  /// may have been taken; those of `failure`. The context names the replicas that are missing.
  [[nodiscard]] expected<message_version> send(const encodable& value);

  /// Sends a message and returns its number; `take_completions` says what becomes of it. Blocks
  /// until there is room in the window. Encoded bytes must be valid. Errors: limit_exceeded,
  /// shutting_down, and those of `failure`; then it is not sent.
  [[nodiscard]] expected<std::uint64_t> post(const encodable& value);
  /// Posts values in bin::v1 that lie one behind the other and must be valid: cheaper than one by
  /// one. Returns the number of the last; after an error `counters` tell how many were sent.
  [[nodiscard]] expected<std::uint64_t> post_batch(std::span<const std::byte> values);

  /// Messages that were posted go now, even where their batch is not full. Does not block.
  void send_pending();
  /// Sends what is pending, and blocks until nothing is in flight, for `timeout` at most, or until
  /// closed. Returns how many messages still are.
  [[nodiscard]] std::size_t drain(std::chrono::nanoseconds timeout);
  /// Completions of messages that were posted, in no order; none where none is here. Never blocks.
  /// If they are not taken, the oldest are dropped beyond a million.
  [[nodiscard]] std::vector<versioned_completion> take_completions();
  /// The same, at least one. Blocks until there is one, for `timeout` at most, or until closed.
  received<std::vector<versioned_completion>>
  take_completions_for(std::chrono::nanoseconds timeout);

  /// Whether the group has `n` members that are alive. Blocks until it has, for `timeout` at most,
  /// or until closed.
  [[nodiscard]] bool wait_for_replicas(std::size_t n, std::chrono::nanoseconds timeout) const;
  /// Members that are alive, as far as is known here.
  std::size_t replicas() const;
  /// Messages sent and not acknowledged.
  std::size_t in_flight() const;
  /// By which replicas know this client.
  const endpoint_id& id() const noexcept;
  versioned_group_counters counters() const;

  /// Ends waits; messages in flight are abandoned: call `drain` before. Idempotent.
  void close();
  bool closed() const;
  /// logic_error, once the group has lost its state and begun anew, which ends this client. `none`
  /// otherwise.
  error failure() const;

private:
  explicit versioned_group(std::shared_ptr<pattern::group_core> core) noexcept;

  std::shared_ptr<pattern::group_core> core_;
};

} // namespace pubsub
