// The record in a message, found in bytes of which nothing has been checked.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

#include <pubsub/condition.hpp>

#include "filter/scalar.hpp"

namespace pubsub::conditions {

/// What came of looking for a value: it is there (`yes`), or as in `condition_verdict`.
using look = condition_verdict;

/// The event of a record is named so, with the path of the log behind it.
inline constexpr std::string_view log_event_prefix = "log_";

/// A vector, or the place where something else begins.
struct members {
  const std::byte* first = nullptr;
  std::uint32_t count = 0;
};

/// Where the columns lie in the records of a log: messages that begin with the same bytes, up to
/// the first column, are shaped alike. Not thread-safe.
class record_shape {
  friend class encoded_record;

  static constexpr std::size_t min_bytes = 16; // of the head of any record of a log
  static constexpr std::size_t max_bytes = 96;

  std::array<std::byte, max_bytes> head_{};
  std::size_t head_bytes_ = 0;  // 0: nothing is known
  std::size_t least_bytes_ = 0; // of a message with room for all that its head announces
  std::size_t event_at_ = 0;
  std::size_t event_bytes_ = 0;
  std::uint32_t columns_ = 0;
};

/// The record of a message is what positions and columns count: of a record of a log (an event
/// `log_<path>` with one argument, a vector) its columns, of another event its arguments, of any
/// other vector its members. Reads only what it is asked for, never beyond the bytes, and passes
/// over a bounded number of values. Not thread-safe; the bytes outlive it.
class encoded_record {
public:
  /// `last`: the shape of a message before, and then of this one, if it is the record of a log.
  explicit encoded_record(std::span<const std::byte> bytes,
                          std::size_t steps = condition::max_steps,
                          record_shape* last = nullptr) noexcept
      : first_(bytes.data()), end_(bytes.data() + bytes.size()), steps_left_(steps), last_(last) {}

  std::span<const std::byte> bytes() const noexcept { return {first_, end_}; }

  /// Whether it has the shape of the message before: then it is the record of a log.
  bool is_shaped_as_before() noexcept {
    find_shape();
    return as_before_;
  }

  /// Of an event its name; `absent` if the message is none.
  look event_name(std::string_view& out) noexcept;
  /// A member of the record. Asking for them in rising order passes over each once.
  look member(std::uint32_t place, const std::byte*& at) noexcept;
  /// What a position of several numbers leads to.
  look member(std::span<const std::uint16_t> path, const std::byte*& at) noexcept {
    return path.size() == 1 ? member(path.front(), at) : member_of_members(path, at);
  }
  /// All of the message.
  look whole(const std::byte*& at) const noexcept;

  /// Whether the message is the event `log_fields(path, columns)`; says where its arguments are.
  bool announces_columns(std::string_view& path, members& columns) noexcept;

  /// The scalar at `at`. `absent` for none, NaN and containers. `out` is as it was made.
  look load(const std::byte* at, scalar& out) const noexcept;
  /// What is at `at` as a vector, or as a set or a table as well; `absent` if it is none.
  look open_vector(const std::byte* at, members& out) const noexcept;
  look open_container(const std::byte* at, members& out, bool& is_table) const noexcept;
  /// Takes steps for work other than passing over values. False if there are not as many left.
  bool spend(std::size_t steps) noexcept {
    const bool enough = steps <= steps_left_;
    steps_left_ -= enough ? steps : steps_left_;
    return enough;
  }
  /// Moves behind the value at `at`.
  look skip(const std::byte*& at) noexcept;

private:
  look member_of_members(std::span<const std::uint16_t> path, const std::byte*& at) noexcept;
  bool pass_short(const std::byte*& at) const noexcept;
  void pass_short_members(std::uint32_t place) noexcept;
  look find_shape() noexcept;
  look look_for_shape() noexcept;
  std::size_t room_for(const members& all) const noexcept;
  bool has_last_shape() const noexcept;
  void take_last_shape() noexcept;
  void note_shape(std::size_t least_bytes) noexcept;
  look find_event(members all, members& content) noexcept;
  std::size_t left(const std::byte* at) const noexcept {
    return static_cast<std::size_t>(end_ - at);
  }
  look string_at(const std::byte* at, std::string_view& out) const noexcept;

  const std::byte* const first_;
  const std::byte* const end_;
  std::size_t steps_left_;
  record_shape* const last_;
  bool looked_ = false;
  bool as_before_ = false;
  look shape_ = look::absent; // yes: there is a record
  bool is_event_ = false;
  std::string_view event_; // and its arguments, unless its shape is as before
  members arguments_;
  members record_;
  // Where the search for members has got to.
  std::uint32_t reached_ = 0;
  const std::byte* reached_at_ = nullptr;
};

/// All bytes that `look_for_shape` reads are in the head, and are the same. They are compared here,
/// 16 at a time, of which the last may be some of those before: a call takes as long as all of
/// that.
inline bool encoded_record::has_last_shape() const noexcept {
  const auto& x = *last_;
  if (x.head_bytes_ < record_shape::min_bytes || left(first_) < x.least_bytes_)
    return false;
  const auto differ = [&](std::size_t at) {
    std::array<std::uint64_t, 2> here, there;
    std::memcpy(here.data(), first_ + at, sizeof(here));
    std::memcpy(there.data(), x.head_.data() + at, sizeof(there));
    return (here[0] ^ there[0]) | (here[1] ^ there[1]);
  };
  auto difference = differ(x.head_bytes_ - record_shape::min_bytes);
  for (std::size_t at = 0; at + record_shape::min_bytes < x.head_bytes_; at += 16)
    difference |= differ(at);
  return difference == 0;
}

inline void encoded_record::take_last_shape() noexcept {
  const auto& x = *last_;
  as_before_ = true;
  shape_ = look::yes;
  is_event_ = true;
  record_ = {first_ + x.head_bytes_, x.columns_};
  reached_at_ = record_.first;
}

inline look encoded_record::find_shape() noexcept {
  if (looked_)
    return shape_;
  looked_ = true;
  if (last_ == nullptr || !has_last_shape())
    return look_for_shape();
  take_last_shape();
  return shape_;
}

} // namespace pubsub::conditions
