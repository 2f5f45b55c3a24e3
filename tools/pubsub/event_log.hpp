// What a running node tells its operator: text on stderr, or JSON lines on stdout.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include <pubsub/counters.hpp>
#include <pubsub/log.hpp>
#include <pubsub/status.hpp>

namespace pubsub::tool {

class json_object;

enum class event_style : unsigned char { text, json };

struct log_options {
  event_style format = event_style::text;
  log_level level = log_level::info;
};

/// Where stderr is the journal, lines have a priority and no time of their own. Of each kind of
/// event at most 20 are shown in 10 seconds, then how many were not. Thread-safe.
class event_log {
public:
  using clock = std::chrono::steady_clock;

  explicit event_log(const log_options& options);

  void change(const log_options& options);

  void listening(std::string_view address);
  /// That metrics, health and the status page are served there.
  void metrics(std::string_view address);
  void access_rules(std::string_view file, std::size_t rules);
  void status(const pubsub::status& event);
  /// What was dropped since the call before, and why; nothing if nothing was.
  void drops(const endpoint_counters& now);
  void totals(const endpoint_counters& totals);
  /// An event of a name of its own, whose text is the rest of the line.
  void note(log_level level, std::string_view event, std::string_view text);
  /// Now and then: says how many events were not shown.
  void tick(clock::time_point now);

private:
  struct window {
    clock::time_point ends;
    std::uint64_t shown = 0;
    std::uint64_t hidden = 0;
  };

  void show(log_level level, std::string_view event, const std::string& text,
            const json_object& object);
  void write(log_level level, const std::string& text, const json_object& object);
  bool may_show(std::string_view event, clock::time_point now);

  std::mutex mutex_; // guards everything below
  log_options options_;
  const bool journal_;
  std::map<std::string, window, std::less<>> windows_; // by event
  endpoint_counters before_;
};

} // namespace pubsub::tool
