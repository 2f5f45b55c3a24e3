// How long Broker's `get` waits, in all the forms it takes.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include <pubsub/compat/broker/fwd.hpp>

namespace broker {
inline namespace over_pubsub {
namespace detail {

/// The end of a wait; nothing where it has none.
using deadline = std::optional<std::chrono::steady_clock::time_point>;

/// `infinite`, and what is as good as that, has no end.
template <class Rep, class Period>
deadline deadline_of(std::chrono::duration<Rep, Period> wait) {
  constexpr auto for_ever = std::chrono::hours{24 * 365 * 100};
  if (wait >= for_ever)
    return std::nullopt;
  if (wait <= wait.zero())
    return std::chrono::steady_clock::now();
  return std::chrono::steady_clock::now() +
         std::chrono::duration_cast<std::chrono::nanoseconds>(wait);
}

template <class Clock, class Duration>
deadline deadline_of(std::chrono::time_point<Clock, Duration> end) {
  const auto now = Clock::now();
  return end > now ? deadline_of(end - now) : std::chrono::steady_clock::now();
}

inline std::chrono::nanoseconds left_until(std::chrono::steady_clock::time_point end) {
  return std::max<std::chrono::nanoseconds>(end - std::chrono::steady_clock::now(),
                                            std::chrono::nanoseconds{0});
}

/// The forms of `get` over `take(out, most, end)`, which waits until there is something, appends at
/// most `most` to `out`, and returns false at the end of the wait, or once nothing more can come.
template <class Value, class Self>
class waiting {
public:
  using value_type = Value;

  /// Waits for `num`. Returns fewer only once the endpoint is shut down.
  std::vector<Value> get(std::size_t num) { return several(num, std::nullopt); }
  /// Waits for `num`, at most so long (a span) or until then (a time). Returns what came.
  template <class Timeout>
  std::vector<Value> get(std::size_t num, Timeout timeout) {
    return several(num, deadline_of(timeout));
  }
  /// What is there now; possibly nothing.
  std::vector<Value> poll() {
    std::vector<Value> result;
    self().take(result, self().available(), std::chrono::steady_clock::now());
    return result;
  }

protected:
  std::optional<Value> one(deadline end) {
    auto taken = several(1, end);
    return taken.empty() ? std::nullopt : std::optional<Value>{std::move(taken.front())};
  }

private:
  Self& self() { return static_cast<Self&>(*this); }
  std::vector<Value> several(std::size_t num, deadline end) {
    std::vector<Value> result;
    while (result.size() < num && self().take(result, num - result.size(), end)) {
    }
    return result;
  }
};

} // namespace detail
} // namespace over_pubsub
} // namespace broker
