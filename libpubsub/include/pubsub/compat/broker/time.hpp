// Broker's times and spans.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstdint>
#include <limits>
#include <string>

#include <pubsub/compat/broker/fwd.hpp>
#include <pubsub/value/time.hpp>

namespace broker {
inline namespace over_pubsub {

using fractional_seconds = std::chrono::duration<double>;
/// For waits that have no end.
inline constexpr timespan infinite{std::numeric_limits<std::int64_t>::max()};

namespace timeout {
using milliseconds = std::chrono::milliseconds;
using seconds = std::chrono::seconds;
inline constexpr seconds peer{10};
inline constexpr seconds subscribe{5};
inline constexpr seconds frontend{10};
} // namespace timeout

inline timestamp now() {
  return pubsub::now();
}

inline bool convert(timespan from, std::string& to) {
  to = std::to_string(from.count()) + "ns";
  return true;
}
inline bool convert(timestamp from, std::string& to) {
  return convert(from.time_since_epoch(), to);
}
inline bool convert(timespan from, fractional_seconds& to) {
  to = std::chrono::duration_cast<fractional_seconds>(from);
  return true;
}
inline bool convert(timespan from, double& to) {
  to = std::chrono::duration_cast<fractional_seconds>(from).count();
  return true;
}
inline bool convert(timestamp from, double& to) {
  return convert(from.time_since_epoch(), to);
}
/// Seconds as a span. False where a timespan cannot hold as many; then `to` stays.
inline bool convert(double from, timespan& to) {
  constexpr auto most = 9.2e9; // seconds in 2^63 nanoseconds, rounded down
  if (!(from > -most && from < most))
    return false;
  to = std::chrono::duration_cast<timespan>(fractional_seconds{from});
  return true;
}
/// The same, since the epoch.
inline bool convert(double from, timestamp& to) {
  auto since_epoch = timespan{};
  if (!convert(from, since_epoch))
    return false;
  to = timestamp{since_epoch};
  return true;
}
/// Zero for what a timespan cannot hold.
inline timespan to_timespan(double seconds) {
  auto result = timespan{};
  convert(seconds, result);
  return result;
}
inline timespan to_duration(double seconds) {
  return to_timespan(seconds);
}
inline timestamp to_timestamp(double seconds) {
  return timestamp{to_timespan(seconds)};
}

inline std::string to_string(timespan x) {
  std::string text;
  convert(x, text);
  return text;
}
/// Nanoseconds since the epoch, as in a value; Broker 2 has a date where the time is no part of
/// one.
inline std::string to_string(timestamp x) {
  return to_string(x.time_since_epoch());
}

} // namespace over_pubsub
} // namespace broker
