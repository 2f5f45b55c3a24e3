// A numbered message there and back, over endpoints or over a bare socket.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <thread>

#include <pubsub/endpoint.hpp>

#include "stream/sequence_checker.hpp"
#include "support/tcp.hpp"

namespace pubsub::tool::bench {

inline constexpr const char* request_topic = "bench/latency/request";
inline constexpr const char* reply_topic = "bench/latency/reply";

/// The asking side: one message at a time, each answered before the next. One thread at a time.
class round_trip {
public:
  virtual ~round_trip() = default;

  /// Sends the next message and waits for its answer. False if none comes in time.
  bool exchange(std::chrono::nanoseconds timeout);
  std::uint64_t sent() const noexcept { return sent_; }
  /// What became of all messages so far.
  sequence_result result() const { return answers_.result(sent_); }

protected:
  virtual bool send(std::uint64_t number) = 0;
  /// The number of the next answer, whichever it is; nothing if none comes in time.
  virtual std::optional<std::uint64_t> receive(std::chrono::nanoseconds timeout) = 0;

private:
  std::uint64_t sent_ = 0;
  sequence_checker answers_;
};

/// Asks through an endpoint, which must outlive it; who answers may be anywhere.
std::unique_ptr<round_trip> make_endpoint_trip(endpoint& ep, std::size_t payload_bytes);
/// Whether who waits for bytes sleeps, or asks again and again.
enum class waiting : unsigned char { asleep, awake };

/// Asks an `echo_socket` on this host through a socket. Throws std::system_error.
std::unique_ptr<round_trip> make_bare_trip(std::uint16_t port, std::size_t payload_bytes,
                                           waiting how);

/// Answers what others ask through an endpoint, in a thread of its own.
class echo_thread {
public:
  explicit echo_thread(endpoint& ep);
  ~echo_thread();

private:
  subscriber requests_;
  publisher replies_;
  std::thread thread_;
};

/// Accepts one connection on this host and sends back what it reads, in a thread of its own. Throws
/// std::system_error.
class echo_socket {
public:
  explicit echo_socket(waiting how);
  ~echo_socket();
  std::uint16_t port() const noexcept { return static_cast<std::uint16_t>(listener_.port()); }

private:
  void run();

  const waiting how_;
  ::bench::tcp_listener listener_;
  std::optional<::bench::tcp_socket> connection_;
  std::atomic<int> connected_{-1}; // the connection's socket, once there is one
  std::thread thread_;
};

} // namespace pubsub::tool::bench
