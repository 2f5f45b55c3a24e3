// One link of the network: a port whose connections are passed on to another port, or are not.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "shim_pump.hpp"

#include <boost/asio/io_context.hpp>

#include <memory>
#include <string>
#include <unordered_set>

#include "command.hpp"

namespace faults {

/// Two sockets and the pumps between them.
class connection;

/// The faults of a link. `forward` is from whoever connects to whoever is connected to. Runs on the
/// thread of its io_context.
class shim_link {
public:
  /// `seed` drives the jitter.
  shim_link(asio::io_context& loop, std::uint16_t to, std::uint64_t seed);
  ~shim_link();

  std::uint16_t port() const { return acceptor_.local_endpoint().port(); }
  void retarget(std::uint16_t to) { to_ = to; }

  /// "forward", "backward" or "both"; throws std::runtime_error for others.
  void shape(const std::string& which, const shaping& how);
  /// Resets every connection (RST to both ends). Returns how many there were.
  std::size_t reset();
  /// Resets every connection, and new ones as they come.
  void down();
  /// A partition: no byte passes in this direction until `heal`, and none is lost.
  void stall(const std::string& which);
  /// Half-open: the far end is reset, the near end goes on believing in its connection, and what it
  /// sends vanishes. New connections are served.
  void vanish();
  /// Ends `down`, `stall` and `vanish`; half-open connections are reset.
  void heal();
  /// As `heal`, after this time, unless healed before.
  void heal_after(std::chrono::milliseconds time);

  json_object status() const;

private:
  asio::awaitable<void> accept();
  asio::awaitable<void> serve(std::shared_ptr<connection> who);
  asio::awaitable<void> write(std::shared_ptr<connection> who, pump& each);
  template <class Change>
  void change(const std::string& which, Change apply);
  void wake_all();
  bool stalled() const { return forward_->stalled || backward_->stalled; }

  asio::io_context& loop_;
  tcp::acceptor acceptor_;
  std::uint16_t to_;
  // A connection may outlive its link by the last steps of its coroutines.
  std::shared_ptr<direction> forward_ = std::make_shared<direction>();
  std::shared_ptr<direction> backward_ = std::make_shared<direction>();
  std::shared_ptr<direction> lost_ = std::make_shared<direction>(); // where half-open ones talk to
  std::unordered_set<std::shared_ptr<connection>> connections_;
  std::unordered_set<std::shared_ptr<connection>> half_open_;
  asio::steady_timer healing_;
  bool down_ = false;
  bool healing_due_ = false;
  std::uint64_t accepted_ = 0;
  std::uint64_t resets_ = 0;
};

} // namespace faults
