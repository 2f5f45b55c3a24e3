// What systemd is told of a service that it has started (sd_notify(3)).
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace pubsub::tool {

/// Does nothing where no service manager waits for news: NOTIFY_SOCKET is not set.
class service_manager {
public:
  service_manager();

  void ready() const;
  /// Until the next `ready`.
  void reloading() const;
  void stopping() const;
  /// That the program is not stuck.
  void alive() const;
  /// How often `alive` is to be called; nothing if the service has no watchdog.
  std::optional<std::chrono::nanoseconds> watchdog_interval() const noexcept { return interval_; }

private:
  void tell(std::string_view news) const;

  std::string socket_;
  std::optional<std::chrono::nanoseconds> interval_;
};

} // namespace pubsub::tool
