// Looks at what peers send to a node, before it goes anywhere.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

#include <pubsub/export.hpp>

namespace pubsub {

/// Decides which messages of its peers a node lets pass, and may change them: what does not pass
/// goes to no subscriber and to no other peer, and is counted as `screened_out`; what is changed
/// reaches all of them as it was changed. Origin, order and destinations stay. What the node itself
/// publishes is not looked at (`endpoint::set_screen`). Const members may be called concurrently.
class PUBSUB_EXPORT message_screen {
public:
  /// What one link needs for it, such as what its messages have announced. Used by one thread at a
  /// time.
  class PUBSUB_EXPORT part {
  public:
    virtual ~part();
    /// The next message on a topic that is screened: whether it passes. Called by the thread that
    /// reads the link, so it must not block, and takes time from all messages behind. `value` is in
    /// bin::v1, of which nothing has been checked. Its bytes may be changed; their number stays.
    virtual bool passes(std::string_view topic, std::span<std::byte> value) noexcept = 0;
  };

  virtual ~message_screen();
  /// Whether messages on this topic are screened. The answer is remembered.
  virtual bool concerns(std::string_view topic) const noexcept = 0;
  /// For a link whose messages were screened by `before` so far; null: by none.
  virtual std::unique_ptr<part> make_part(std::unique_ptr<part> before) const = 0;
};

} // namespace pubsub
