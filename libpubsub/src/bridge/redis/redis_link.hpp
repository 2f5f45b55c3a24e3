// A connection to a Redis server that comes back by itself: commands out, replies in, in order.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <hiredis/hiredis.h>

#include "base/unique_fd.hpp"
#include "bridge/engine/connector.hpp"
#include "bridge/engine/event_loop.hpp"
#include "bridge/redis/redis_url.hpp"

namespace pubsub::bridge {

struct free_reply {
  void operator()(redisReply* x) const { ::freeReplyObject(x); }
};
using reply_ptr = std::unique_ptr<redisReply, free_reply>;

/// Readers ask again so long after the server said no.
inline constexpr std::chrono::milliseconds pause_after_error{500};
/// And wait so long until it says that it knows what is done.
inline constexpr std::chrono::milliseconds patience_with_commit{1000};

/// The bytes of a string, a status or an error.
std::string_view text_of(const redisReply& x);
/// An array of at least so many elements, each of which is there.
bool is_array(const redisReply* x, std::size_t at_least);
/// Whether the server says no for the moment only: it has no memory, loads its data, is a replica,
/// or wants a login.
bool is_passing(std::string_view error) noexcept;

/// Not thread-safe. Never blocks. Logs in by itself. Sends with hiredis' protocol, but through a
/// socket of its own: hiredis raises SIGPIPE where the server has gone.
class redis_link {
public:
  explicit redis_link(redis_url url);
  ~redis_link();

  int fd() const noexcept { return loop_.fd(); }
  /// Connects, sends and receives what can be; call it before the rest, and when `fd` is readable.
  void drive();
  /// How many connections there have been: replies to commands that were sent on one before the
  /// current one do not come.
  std::uint64_t generation() const noexcept { return generation_; }
  /// Whether commands may be sent.
  bool ready() const noexcept { return ready_; }
  /// Appends a command to what is sent with the next `drive` or `flush`.
  void command(const std::vector<std::string_view>& arguments);
  /// Bytes that wait for the socket.
  std::size_t unsent() const noexcept { return out_.size() - sent_; }
  void flush();
  /// The next reply; null if there is none yet.
  reply_ptr next();
  /// For people: what is wrong with the connection; empty if nothing.
  std::string problem() const;
  const redis_url& url() const noexcept { return url_; }
  /// Closes the connection, which is not of use, and makes another one.
  void drop(std::string_view why);
  void wait(std::chrono::milliseconds timeout) { loop_.wait(timeout); }

private:
  void begin(unique_fd socket);
  void receive();
  void take_greetings();

  redis_url url_;
  event_loop loop_;
  unique_fd socket_;
  std::unique_ptr<redisReader, void (*)(redisReader*)> reader_;
  std::deque<reply_ptr> replies_;
  std::string out_;
  std::size_t sent_ = 0;
  std::size_t greetings_ = 0; // replies to the login that have not come
  std::uint64_t generation_ = 0;
  bool ready_ = false;
  bool waits_for_room_ = false;
  bool asked_ = false; // a connection is being made
  std::string problem_;
  connector<unique_fd> connector_; // last: its thread uses the loop
};

} // namespace pubsub::bridge
