// What a call that waits for something returns: the thing, or why there is none.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cassert>
#include <cstdint>
#include <optional>
#include <utility>

namespace pubsub {

/// How a call that waits has ended.
enum class receive_status : std::uint8_t {
  received, ///< there is something
  timeout,  ///< nothing came in time; of a call that never blocks: nothing is there now
  closed,   ///< nothing is left, and nothing more will come
};

/// Something that was waited for, or why there is none. Accessing what is not there is a caller's
/// bug (assert in debug builds); test with `if (x)` first, and a loop over `while (auto x = get())`
/// ends when the source is closed.
template <class T>
class [[nodiscard]] received {
public:
  received(T value) : value_(std::move(value)), status_(receive_status::received) {}
  /// `why`: timeout or closed.
  received(receive_status why) : status_(why) { assert(why != receive_status::received); }

  explicit operator bool() const noexcept { return value_.has_value(); }
  bool has_value() const noexcept { return value_.has_value(); }
  receive_status status() const noexcept { return status_; }
  bool timed_out() const noexcept { return status_ == receive_status::timeout; }
  bool closed() const noexcept { return status_ == receive_status::closed; }

  T& operator*() & { return held(*this); }
  const T& operator*() const& { return held(*this); }
  T&& operator*() && { return std::move(held(*this)); }
  T* operator->() { return &held(*this); }
  const T* operator->() const { return &held(*this); }

private:
  template <class Self>
  static auto& held(Self& self) {
    assert(self.has_value());
    return *self.value_;
  }

  std::optional<T> value_;
  receive_status status_;
};

} // namespace pubsub
