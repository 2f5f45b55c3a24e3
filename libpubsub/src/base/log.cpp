// SPDX-License-Identifier: BSD-3-Clause
#include "base/log.hpp"

#include <cstdio>
#include <memory>
#include <mutex>
#include <string>

namespace pubsub {

namespace {

void log_to_stderr(log_level level, std::string_view line) {
  if (level < log_level::warning)
    return;
  std::string text = level == log_level::error ? "libpubsub error: " : "libpubsub warning: ";
  text.append(line).append("\n");
  std::fputs(text.c_str(), stderr);
}

using hook_type = std::function<void(log_level, std::string_view)>;

std::mutex hook_mutex; // guards hook
std::shared_ptr<const hook_type> hook = std::make_shared<const hook_type>(log_to_stderr);

} // namespace

void set_log_hook(std::function<void(log_level, std::string_view)> fresh) {
  auto shared = std::make_shared<const hook_type>(std::move(fresh));
  std::lock_guard lock{hook_mutex};
  hook = std::move(shared);
}

void log(log_level level, std::string_view line) noexcept {
  try {
    std::unique_lock lock{hook_mutex};
    auto current = hook;
    lock.unlock();
    if (*current)
      (*current)(level, line);
  } catch (...) { // a hook that fails must not take the host down with it
  }
}

} // namespace pubsub
