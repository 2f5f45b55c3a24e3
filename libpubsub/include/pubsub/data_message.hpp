// A topic and a value that travel together: the unit of publish/subscribe.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <pubsub/data.hpp>
#include <pubsub/data_view.hpp>
#include <pubsub/export.hpp>
#include <pubsub/value/endpoint_id.hpp>

namespace pubsub {

class message_run;
class message_storage;

/// A cheap handle (32 bytes, nothrow move) on immutable shared storage. Copying one costs a
/// reference count, never a copy of the value, however many subscribers hold it. Storage is either
/// the value as it was published in this process, or a slice of the bytes it arrived in; the value
/// of a slice is decoded at most once, on first access by a consumer. Thread-safety: distinct
/// handles may be used concurrently even where they share storage; const access to one handle is
/// concurrent.
class PUBSUB_EXPORT data_message {
public:
  /// An empty message: what `subscriber::get` returns once nothing more can arrive.
  data_message() noexcept = default;
  data_message(const data_message& other) noexcept
      : owner_(other.owner_), bytes_(other.bytes_), payload_size_(other.payload_size_),
        topic_size_(other.topic_size_), checked_(other.checked_), decoded_(other.share_decoded()) {
    if (owner_ != nullptr)
      acquire(owner_);
  }
  data_message(data_message&& other) noexcept
      : owner_(std::exchange(other.owner_, nullptr)), bytes_(std::exchange(other.bytes_, nullptr)),
        payload_size_(other.payload_size_), topic_size_(other.topic_size_),
        checked_(other.checked_), decoded_(other.take_decoded()) {}
  data_message& operator=(const data_message& other) noexcept {
    data_message{other}.swap(*this);
    return *this;
  }
  data_message& operator=(data_message&& other) noexcept {
    if (this == &other)
      return *this;
    reset();
    owner_ = std::exchange(other.owner_, nullptr);
    bytes_ = std::exchange(other.bytes_, nullptr);
    payload_size_ = other.payload_size_;
    topic_size_ = other.topic_size_;
    checked_ = other.checked_;
    decoded_.store(other.take_decoded(), std::memory_order_relaxed);
    return *this;
  }
  ~data_message() { reset(); }

  /// False for an empty message only.
  explicit operator bool() const noexcept { return owner_ != nullptr; }
  /// Gives up the storage; the message is then empty.
  void reset() noexcept {
    if (const auto* slot = take_decoded())
      release_decoded(slot);
    if (const auto* owner = std::exchange(owner_, nullptr))
      release(owner);
    bytes_ = nullptr;
  }
  void swap(data_message& other) noexcept;

private:
  friend class message_access; // how the rooms of the core build and take apart messages
  friend class message_run;

  static void acquire(const message_storage* owner) noexcept;
  static void release(const message_storage* owner) noexcept;

  struct decoded_value;
  const decoded_value* share_decoded() const noexcept {
    const auto* slot = decoded_.load(std::memory_order_acquire);
    return slot == nullptr ? nullptr : acquire_decoded(slot);
  }
  const decoded_value* take_decoded() noexcept {
    const auto* slot = decoded_.load(std::memory_order_relaxed);
    if (slot != nullptr)
      decoded_.store(nullptr, std::memory_order_relaxed);
    return slot;
  }
  static const decoded_value* acquire_decoded(const decoded_value* slot) noexcept;
  static void release_decoded(const decoded_value* slot) noexcept;

  const message_storage* owner_ = nullptr;
  const std::byte* bytes_ = nullptr; // payload; null where owner_ is a locally built value
  std::uint32_t payload_size_ = 0;
  std::uint16_t topic_size_ = 0;
  bool checked_ = false; // the payload has passed validation
  mutable std::atomic<const decoded_value*> decoded_{nullptr};
};

static_assert(sizeof(data_message) <= 32);

/// Builds a message; `value` is moved into shared storage.
PUBSUB_EXPORT data_message make_data_message(std::string_view topic, data value);

/// The topic; valid as long as `msg` or a copy of it lives. Empty for an empty message.
PUBSUB_EXPORT std::string_view get_topic(const data_message& msg) noexcept;
/// The value; valid as long as `msg` lives and is not written to. Decodes a received message on
/// first use. `none` for an empty message.
PUBSUB_EXPORT const data& get_data(const data_message& msg);
/// The value as encoded bytes, without building a tree; valid as long as `msg` lives. Encodes a
/// locally built message on first use.
PUBSUB_EXPORT data_view get_view(const data_message& msg);
/// True if `msg` holds a topic and a value.
inline bool is_data_message(const data_message& msg) noexcept {
  return static_cast<bool>(msg);
}

/// Who published a message, and which of its messages it is. A stream is what one publisher, or one
/// thread that calls `endpoint::publish`, hands to the network: its messages have the numbers 0, 1,
/// 2 and so on.
struct message_origin {
  endpoint_id endpoint;
  std::uint32_t stream = 0; ///< which of the streams of this endpoint
  std::uint64_t sequence = 0;

  friend bool operator==(const message_origin&, const message_origin&) = default;
};

/// The origin of a message that came over version-2 links, or was published in this process in
/// encoded form; nothing for all others (built values, messages of Broker peers). Counts from
/// the beginning of the run the message came in: up to some ten thousand steps of a nanosecond or
/// two.
PUBSUB_EXPORT std::optional<message_origin> get_origin(const data_message& msg);

/// As `get_origin`, for many messages: one that is asked for behind another of its run, as they are
/// received, costs the steps between the two. Keeps the message that begins the row. Not for
/// concurrent use.
class PUBSUB_EXPORT origin_cursor {
public:
  std::optional<message_origin> origin_of(const data_message& msg);

private:
  data_message first_;                // keeps the run that `record_` points into
  const std::byte* record_ = nullptr; // the record that was asked for last
  std::uint64_t sequence_ = 0;
};

/// The endpoint that has published it, as `get_origin` tells, in constant time; nothing where a
/// Broker peer has.
PUBSUB_EXPORT std::optional<endpoint_id> get_publishing_endpoint(const data_message& msg) noexcept;

/// The one way to write: a reference to a value only `msg` holds. Copies the value if the storage
/// is shared (copy-on-write), decodes it if it was received, and otherwise costs nothing.
PUBSUB_EXPORT data& mutable_data(data_message& msg);

/// `topic -> value` for logs.
PUBSUB_EXPORT std::string to_string(const data_message& msg);

} // namespace pubsub
