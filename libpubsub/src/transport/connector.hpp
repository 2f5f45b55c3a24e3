// Connects to one address, again and again if so asked.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>

#include <pubsub/error.hpp>

#include "transport/connection.hpp"
#include "transport/uri.hpp"

namespace pubsub {

/// One attempt at a time. After each the owner decides: `retry_now`, `retry_later`, or nothing.
/// Thread-safety: all members from any thread; callbacks come on the connector's loop, none after
/// `stop` has taken effect there.
class connector : public std::enable_shared_from_this<connector> {
public:
  struct callbacks {
    std::function<void(std::unique_ptr<connection>)> on_connected;
    std::function<void(const error&)> on_failed;
  };

  connector(std::shared_ptr<asio::io_context> loop, uri target,
            std::chrono::milliseconds connect_timeout, connection_factory make, callbacks report);

  void retry_now();
  /// Starts an attempt after `delay`.
  void retry_later(std::chrono::milliseconds delay);
  void stop();

  const uri& target() const noexcept { return target_; }

private:
  void attempt();
  void on_time_out();
  void resolve();
  void on_resolved(const error_code& failure, tcp::resolver::results_type found);
  void on_connect(const error_code& failure);
  void fail(const std::string& why);

  std::shared_ptr<asio::io_context> loop_;
  const uri target_;
  const std::chrono::milliseconds connect_timeout_;
  const connection_factory make_;
  const callbacks report_;
  asio::steady_timer timer_;
  std::optional<tcp::socket> socket_;
  tcp::resolver::results_type found_;
  std::uint64_t attempts_ = 0;
  bool attempting_ = false;
  bool resolving_ = false;
  bool timed_out_ = false;
  bool stopped_ = false;
};

} // namespace pubsub
