// Connects to one address, again and again if so asked.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <pubsub/error.hpp>

#include "transport/connection.hpp"
#include "transport/uri.hpp"

namespace pubsub {

/// One attempt at a time. After each the owner decides whether there is another one.
/// Thread-safety: all members from any thread; the callback comes on the connector's loop, none
/// after `stop` has taken effect there.
class connector : public std::enable_shared_from_this<connector> {
public:
  using callback = std::function<void(expected<std::shared_ptr<connection>>)>;

  /// `report` is called with the outcome of each attempt.
  connector(std::shared_ptr<asio::io_context> loop, uri target,
            std::chrono::nanoseconds connect_timeout, connection_factory make, callback report);

  /// Starts an attempt after `delay`; nothing if one is under way.
  void attempt_after(std::chrono::nanoseconds delay);
  void stop();

private:
  void attempt();
  void resolve();
  void connect(std::vector<stream_protocol::endpoint> found);
  void end_attempt();
  void fail(const std::string& why);

  const std::shared_ptr<asio::io_context> loop_;
  const uri target_;
  const std::chrono::nanoseconds connect_timeout_;
  const connection_factory make_;
  const callback report_;
  asio::steady_timer timer_;
  std::shared_ptr<stream_protocol::socket> socket_; // null until the name is resolved
  std::uint64_t attempts_ = 0;
  std::uint64_t current_ = 0; // the number of the attempt under way; 0: none
  bool stopped_ = false;
};

} // namespace pubsub
