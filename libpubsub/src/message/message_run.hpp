// Messages in a row that one thread appends to while others already read: no lock per message.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include <pubsub/data_message.hpp>
#include <pubsub/message_storage.hpp>

#include "base/intrusive_ptr.hpp"
#include "message/chunk.hpp"

namespace pubsub {

/// How far into a run: so many messages, so many bytes.
struct run_position {
  std::uint32_t messages = 0;
  std::uint64_t bytes = 0;
};

/// Either data frames that lie next to each other in a chunk, or handles on built messages. All
/// exits that take the same messages share one run, so what a message costs its publisher does not
/// depend on their number. One thread appends; any thread reads, watches and closes. The length,
/// the end and the watch are one atomic word: whoever sees a length sees the messages below it.
class message_run final : public message_storage {
public:
  /// What became of an attempt to append. `watched`: appended, and somebody waits to be told.
  enum class outcome : std::uint8_t { appended, watched, closed };
  struct extent {
    run_position end;
    bool closed = false; ///< nothing follows
  };
  static constexpr std::uint32_t max_messages = (1U << 20) - 1;

  /// An empty run of frames that will lie at `first` in `owner`.
  static intrusive_ptr<message_run> of_frames(const chunk* owner, const std::byte* first);
  /// A finished run; `messages` is 0 for a control frame.
  static intrusive_ptr<message_run> of_frames(const chunk* owner, const std::byte* first,
                                              run_position size);
  /// An empty run with room for `slots` handles.
  static intrusive_ptr<message_run> of_handles(std::uint32_t slots);

  /// Before the first reader comes: more than one subscriber reads this run.
  void set_shared() noexcept { shared_ = true; }
  bool shared() const noexcept { return shared_; }

  // -- the appending thread --------------------------------------------------------------------

  /// The frame of `size_bytes` bytes behind the last one is complete.
  outcome append(std::size_t size_bytes) noexcept;
  /// Puts a handle into the next slot; `msg` is moved from unless closed. It counts `size_bytes`.
  outcome append(data_message& msg, std::uint32_t size_bytes) noexcept;
  bool full() const noexcept;
  /// Whether a frame at `frame` in `owner` would continue this run.
  bool continues_at(const chunk* owner, const std::byte* frame) const noexcept {
    return owner_.get() == owner && first_ + now().end.bytes == frame;
  }

  // -- anybody ---------------------------------------------------------------------------------

  extent now() const noexcept;
  /// Nothing can be appended any more.
  void close() noexcept;
  /// The next append shall say `watched`. False if there is more than `seen_bytes` already.
  bool watch(std::uint64_t seen_bytes) noexcept;

  // -- readers, below the length they have seen ------------------------------------------------

  const std::byte* frames() const noexcept { return first_; }
  std::uint64_t bytes_of(run_position from, std::uint32_t messages) const noexcept;
  /// Appends the messages to `out`, with one reference count for all frames.
  void read(run_position from, std::uint32_t messages, std::vector<data_message>& out);
  /// The decoded form of the message whose topic is at `at`, one for all readers; the caller gets
  /// a reference.
  const data_message::decoded_value* decoded_at(const std::byte* at) const;

private:
  struct slot {
    data_message msg;
    std::uint32_t size_bytes = 0;
  };
  struct decoded_table;

  message_run(const chunk* owner, const std::byte* first, std::uint64_t state);
  explicit message_run(std::uint32_t slots);
  ~message_run() override;
  void destroy() const noexcept override { delete this; }
  outcome extend(std::size_t size_bytes) noexcept;

  std::atomic<std::uint64_t> state_; // see message_run.cpp
  const intrusive_ptr<const chunk> owner_;
  const std::byte* const first_ = nullptr;
  const std::unique_ptr<slot[]> slots_;
  const std::uint32_t slot_count_ = 0;
  bool shared_ = false;
  mutable std::once_flag table_made_;
  mutable std::unique_ptr<decoded_table> table_;
};

} // namespace pubsub
