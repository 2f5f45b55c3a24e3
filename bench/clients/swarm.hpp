// Many clients in one thread, over bare sockets, which cost the same with every server.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace pubsub::tool::bench {

/// What one client says and understands: a protocol without its socket. It subscribes to one topic.
class swarm_client {
public:
  virtual ~swarm_client() = default;

  /// The connection is there. What is to be sent is appended to `out`, here and below.
  virtual void begin(std::vector<std::byte>& out) = 0;
  /// Takes whole units of what has come, and returns their bytes. Throws std::runtime_error where
  /// they are not what is expected.
  virtual std::size_t receive(std::span<const std::byte> in, std::vector<std::byte>& out) = 0;

  /// Whether the subscription is in force at the server.
  bool ready() const noexcept { return ready_; }
  std::uint64_t messages() const noexcept { return messages_; }

protected:
  bool ready_ = false;
  std::uint64_t messages_ = 0;
};

/// A client of the native protocol, version 2, and one of NATS.
std::unique_ptr<swarm_client> make_native_client();
std::unique_ptr<swarm_client> make_nats_client();

/// Clients of one server. Every failure throws std::system_error or std::runtime_error.
class swarm {
public:
  using clock = std::chrono::steady_clock;

  swarm(int port, std::size_t clients, const std::function<std::unique_ptr<swarm_client>()>& make);
  swarm(const swarm&) = delete;
  swarm& operator=(const swarm&) = delete;
  ~swarm();

  /// Serves the clients until `met` holds, which is asked after each of their steps: true; or until
  /// `also` is readable.
  bool run(int also, const std::function<bool()>& met);
  std::size_t ready() const noexcept { return ready_; }
  /// Those that have got all messages so far.
  std::size_t reached() const noexcept { return reached_; }
  /// One more is to come.
  void expect_message() noexcept {
    ++expected_;
    reached_ = 0;
  }

private:
  struct connection;

  void connect_more();
  void serve(connection& x);
  void send(connection& x);

  const int port_;
  int poll_ = -1;
  std::vector<std::unique_ptr<connection>> all_;
  std::size_t begun_ = 0;
  std::size_t ready_ = 0;
  std::uint64_t expected_ = 0; // messages
  std::size_t reached_ = 0;
};

} // namespace pubsub::tool::bench
