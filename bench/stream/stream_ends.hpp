// The publishing and consuming threads of `bench stream`.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <string>
#include <thread>

#include <pubsub/endpoint.hpp>

#include "stream/numbered_stream.hpp"
#include "stream/payloads.hpp"

namespace pubsub::tool::bench {

inline constexpr const char* stream_topic = "bench/stream";

/// What publishers send.
enum class message_kind : unsigned char {
  fresh,    ///< a new numbered message each time
  repeated, ///< one message over and over, shared and only counted
};

/// Readable once the threads that raise it are done.
class finish_line {
public:
  finish_line();
  finish_line(const finish_line&) = delete;
  finish_line& operator=(const finish_line&) = delete;
  ~finish_line();

  void arrive();
  int fd() const noexcept { return fd_; }
  /// Takes note of arrivals; returns how many there were in all.
  std::uint64_t arrived();

private:
  int fd_ = -1;
  std::uint64_t arrived_ = 0;
};

/// A thread that publishes until told to stop and then sends the end mark.
class publishing_thread {
public:
  publishing_thread(endpoint& ep, const payloads& contents, message_kind kind, std::uint64_t stream,
                    finish_line& finish);
  ~publishing_thread();

  void stop() noexcept { stop_.store(true, std::memory_order_relaxed); }
  std::uint64_t published() const noexcept { return published_.load(std::memory_order_relaxed); }

private:
  void publish_numbered(publisher& out, std::uint64_t stream);
  void publish_repeated(publisher& out);
  bool going_on(std::uint64_t published);

  const payloads& contents_;
  std::atomic<bool> stop_{false};
  std::atomic<std::uint64_t> published_{0};
  std::thread thread_;
};

/// A thread that visits every message until all end marks have come or its subscriber is closed.
class consuming_thread {
public:
  consuming_thread(endpoint& ep, message_kind kind, std::size_t streams, const queue_options& queue,
                   std::size_t batch_messages, finish_line& finish);
  ~consuming_thread();

  /// Ends the subscription, and with it the thread.
  void close() { sub_.close(); }
  std::uint64_t visited() const noexcept { return visited_.load(std::memory_order_relaxed); }
  /// Valid once the thread has arrived at its finish line.
  sequence_result result() const;

private:
  void run(std::size_t batch_messages);
  void visit(const data_message& msg);

  subscriber sub_;
  message_kind kind_;
  numbered_consumer numbered_;
  std::uint64_t counted_ = 0;   // repeated messages
  std::uint64_t announced_ = 0; // by the end marks of repeated messages
  std::size_t ends_left_;
  std::atomic<std::uint64_t> visited_{0};
  std::thread thread_;
};

} // namespace pubsub::tool::bench
