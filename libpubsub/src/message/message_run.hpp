// Messages in a row that one thread appends to while others already read: no lock per message.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <pubsub/data_message.hpp>
#include <pubsub/value/endpoint_id.hpp>

#include "base/intrusive_ptr.hpp"
#include "message/chunk.hpp"
#include "message/message_storage.hpp"
#include "message/topic_table.hpp"

namespace pubsub {

/// A place in a run, or a distance: messages and bytes.
struct run_position {
  std::uint32_t messages = 0;
  std::uint64_t bytes = 0;
};

/// Where the messages of a run come from: the n-th of them has sequence number `first_sequence + n`
/// in its stream. Nil and zeros for messages of Broker peers, which carry no origin.
struct run_origin {
  endpoint_id endpoint;
  std::uint32_t stream = 0;
  std::uint64_t first_sequence = 0;
  std::uint8_t hops_left = 0;
};

/// Set in the number of a stream whose messages all have one topic: a subscriber to that topic gets
/// all of them.
inline constexpr std::uint32_t one_topic_flag = 0x8000'0000;
constexpr bool has_one_topic(std::uint32_t stream) noexcept {
  return (stream & one_topic_flag) != 0;
}

/// Bit of a stream's number: who has published its messages is not known. A Broker peer, of which
/// the node of the origin has let them into the network; or a node that its neighbour does not
/// reach, as far as is known here.
inline constexpr std::uint32_t entered_flag = 0x2000'0000;
constexpr bool has_entered(std::uint32_t stream) noexcept {
  return (stream & entered_flag) != 0;
}

/// Memory that records of one stream are, or will be, written to one after the other.
struct record_source {
  const chunk* owner = nullptr;
  const std::byte* first = nullptr;
  const topic_table* topics = nullptr;
  run_origin origin;
};

/// Messages in a row: records, as publishers write them and version 2 carries them; data frames, as
/// Broker peers send them; or handles on built messages. All exits that take the same messages
/// share one run, so what a message costs its publisher does not depend on their number. One thread
/// appends; any thread reads, watches and closes. The length, the end and the watch are one atomic
/// word: a thread that has read a length sees the messages below it.
class message_run final : public message_storage {
public:
  /// What became of an attempt to append. `watched`: appended, and a reader waits to be woken.
  enum class outcome : std::uint8_t { appended, watched, closed };
  struct extent {
    run_position end;
    bool closed = false; ///< nothing follows
  };
  static constexpr std::uint32_t max_messages = (1U << 20) - 1;

  /// An empty run of records.
  static intrusive_ptr<message_run> of_records(const record_source& source);
  /// A finished run of records, each of which has been checked.
  static intrusive_ptr<message_run> of_records(const record_source& source, run_position size);
  /// A finished run of frames, each of which has been checked; `messages` is 0 for control frames.
  static intrusive_ptr<message_run> of_frames(const chunk* owner, const std::byte* first,
                                              run_position size);
  /// An empty run with room for `slots` handles.
  static intrusive_ptr<message_run> of_handles(std::uint32_t slots);

  /// More than one subscriber will read this run; to be called before the first reader comes.
  void set_shared() noexcept { shared_ = true; }
  bool shared() const noexcept { return shared_; }

  // -- the appending thread --------------------------------------------------------------------

  /// The record of `size_bytes` bytes behind `end`, where the run ends, is complete; `end` moves
  /// behind it unless closed. A writer that knows where its run ends does not have to look: readers
  /// take the word away from its processor, and to get it back twice costs more than the message.
  outcome append(run_position& end, std::size_t size_bytes) noexcept {
    const auto step = pack({1, size_bytes});
    auto state = pack(end);
    const bool untouched = state_.compare_exchange_strong(
        state, state + step, std::memory_order_acq_rel, std::memory_order_relaxed);
    const auto result = untouched ? outcome::appended : append_behind(state, step);
    if (result != outcome::closed)
      end = {end.messages + 1, end.bytes + size_bytes};
    return result;
  }
  /// As above, where the writer has to look for the end.
  outcome append(std::size_t size_bytes) noexcept {
    auto end = now().end;
    return append(end, size_bytes);
  }
  /// Puts a handle into the next slot; `msg` is moved from unless closed. It counts `size_bytes`.
  outcome append(data_message& msg, std::uint32_t size_bytes) noexcept;
  bool full() const noexcept { return now().end.messages >= most_messages(); }
  /// How many messages it may have.
  std::uint32_t most_messages() const noexcept { return slots_ ? slot_count_ : max_messages; }
  /// Whether a record at `source` would continue this run, which ends at `end`.
  bool continues_with(const record_source& source, run_position end) const noexcept {
    return owner_.get() == source.owner && first_ + end.bytes == source.first &&
           topics_.get() == source.topics &&
           origin_.first_sequence + end.messages == source.origin.first_sequence;
  }
  bool continues_with(const record_source& source) const noexcept {
    return continues_with(source, now().end);
  }

  // -- any thread ------------------------------------------------------------------------------

  extent now() const noexcept {
    const auto state = state_.load(std::memory_order_acquire);
    return {{messages_in(state), state & bytes_mask}, (state & closed_bit) != 0};
  }
  /// Nothing can be appended any more.
  void close() noexcept;
  /// Lets the next append return `watched`. False, without effect, if the run already has more than
  /// `seen_bytes` bytes.
  bool watch(std::uint64_t seen_bytes) noexcept;

  // -- readers, below the length they have seen ------------------------------------------------

  const std::byte* bytes() const noexcept { return first_; }
  bool has_records() const noexcept { return topics_.get() != nullptr; }
  const topic_table* topics() const noexcept { return topics_.get(); }
  const run_origin& origin() const noexcept { return origin_; }
  /// The topic of a message whose payload is at `payload`; `size` is that of the topic in a frame.
  std::string_view topic_of(const std::byte* payload, std::uint16_t size) const noexcept {
    return topics_ ? topics_->at(static_cast<std::uint8_t>(payload[-1]))
                   : std::string_view{reinterpret_cast<const char*>(payload) - size, size};
  }
  std::uint64_t bytes_of(run_position from, std::uint32_t messages) const noexcept;
  /// The topic of the message at this place; valid as long as the run lives and the message has not
  /// been read from it.
  std::string_view topic_at(run_position at) const noexcept;
  /// The value of the message at this place, encoded; of a built message it is encoded once for
  /// all. Valid as the topic is.
  std::span<const std::byte> payload_at(run_position at) const;
  /// A finished run of this message alone, which keeps no other message's memory alive.
  intrusive_ptr<message_run> alone(run_position at);
  /// Appends the messages to `out`, with one reference count for all of a run. Those whose payload
  /// is a value are marked as checked.
  void read(run_position from, std::uint32_t messages, std::vector<data_message>& out);
  /// The decoded form of the message whose payload is at `at`, one for all readers; the caller gets
  /// a reference.
  const data_message::decoded_value* decoded_at(const std::byte* at) const;

private:
  static constexpr std::size_t cache_line_bytes = 64;

  // The word: closed | watched | 20 bits of messages | 42 bits of bytes.
  static constexpr std::uint64_t closed_bit = std::uint64_t{1} << 63;
  static constexpr std::uint64_t watched_bit = std::uint64_t{1} << 62;
  static constexpr unsigned messages_shift = 42;
  static constexpr std::uint64_t bytes_mask = (std::uint64_t{1} << messages_shift) - 1;
  static constexpr std::uint64_t pack(run_position x) noexcept {
    return (std::uint64_t{x.messages} << messages_shift) | x.bytes;
  }
  static constexpr std::uint32_t messages_in(std::uint64_t state) noexcept {
    return static_cast<std::uint32_t>(state >> messages_shift) & max_messages;
  }

  struct slot {
    data_message msg;
    std::uint32_t size_bytes = 0;
  };
  struct decoded_table {
    ~decoded_table();

    std::mutex mutex; // guards slots
    std::unordered_map<const std::byte*, const data_message::decoded_value*> slots;
  };

  message_run(const record_source& source, std::uint64_t state);
  explicit message_run(std::uint32_t slots);
  ~message_run() override;
  void destroy() const noexcept override { delete this; }
  outcome append_behind(std::uint64_t state, std::uint64_t step) noexcept;
  std::uint64_t size_at(run_position at) const noexcept;
  void read_records(run_position from, std::uint32_t messages, std::vector<data_message>& out);
  void read_frames(run_position from, std::uint32_t messages, std::vector<data_message>& out);
  void read_handles(std::uint32_t first, std::uint32_t messages, std::vector<data_message>& out);

  // The reference count before them is written by readers, the word by the appending thread. On one
  // line of the cache they made a stream three times slower whenever its reader was close behind.
  // Bytes between them, as memory for a type with a greater alignment is slower to get.
  [[maybe_unused]] std::byte before_state_[cache_line_bytes];
  std::atomic<std::uint64_t> state_;
  [[maybe_unused]] std::byte behind_state_[cache_line_bytes];
  const intrusive_ptr<const chunk> owner_;
  const std::byte* const first_ = nullptr;
  const intrusive_ptr<const topic_table> topics_; // of records
  const run_origin origin_;                       // of records
  const std::unique_ptr<slot[]> slots_;
  const std::uint32_t slot_count_ = 0;
  bool shared_ = false;
  mutable std::once_flag table_made_;
  mutable std::unique_ptr<decoded_table> table_;
};

} // namespace pubsub
