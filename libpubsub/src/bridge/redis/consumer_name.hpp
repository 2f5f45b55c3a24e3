// The name under which a reader is a member of its group: the same after a restart, and no one
// else's on this host.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>

#include "base/unique_fd.hpp"

namespace pubsub::bridge {

/// The host's name and the lowest number that no other reader has: what a reader that has died was
/// given, and has not acknowledged, the next one finds under the same name. The number is held by
/// an address of a Unix socket, which goes with the process.
class consumer_name {
public:
  /// `scope`: readers of different servers and groups do not share numbers.
  explicit consumer_name(std::string_view scope);

  const std::string& text() const noexcept { return text_; }

private:
  std::string text_;
  unique_fd claim_;
};

} // namespace pubsub::bridge
