// The screen of a node, as one link uses it.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

#include <pubsub/message_screen.hpp>

namespace pubsub {

/// Without a screen everything passes. Thread-safety: the link's loop only.
class screening {
public:
  void use(std::shared_ptr<const message_screen> screen) {
    if (screen == screen_)
      return;
    screen_ = std::move(screen);
    part_ = screen_ ? screen_->make_part(std::move(part_)) : nullptr;
  }
  bool concerns(std::string_view topic) const noexcept {
    return screen_ && screen_->concerns(topic);
  }
  /// Of a message on a topic that it concerns.
  bool passes(std::string_view topic, std::span<std::byte> value) noexcept {
    return part_->passes(topic, value);
  }

private:
  std::shared_ptr<const message_screen> screen_;
  std::unique_ptr<message_screen::part> part_;
};

} // namespace pubsub
