// The state of an encrypted connection, kept alive by what waits for its socket.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "transport/connection.hpp"
#include "transport/tls_context.hpp"
#include "transport/tls_failure.hpp"
#include "transport/tls_socket.hpp"

namespace pubsub {

/// As `connection`, whose rules hold here. OpenSSL is called when the socket is ready: from the
/// loop, or by `try_write`. Handlers are called from the loop only, never by a member function that
/// takes one.
class tls_stream : public std::enable_shared_from_this<tls_stream> {
public:
  using handler = connection::handler;

  /// Throws std::bad_alloc.
  tls_stream(std::shared_ptr<asio::io_context> loop, tcp::socket socket,
             std::shared_ptr<const tls_context> context, tls_role role,
             std::vector<std::byte> refusal);

  void read_some(asio::mutable_buffer into, handler on_done);
  std::size_t try_write(std::span<const asio::const_buffer> from) noexcept;
  void write_some(std::span<const asio::const_buffer> from, handler on_done);
  void close() noexcept;
  network_info remote() const { return remote_end(socket_); }
  const std::shared_ptr<asio::io_context>& loop() const noexcept { return loop_; }
  /// Why it failed; none if it did not. On the loop.
  const error& failure() const noexcept { return failure_; }

private:
  enum class stage : std::uint8_t { fresh, shaking, established, failed, closed };
  /// Of a call of OpenSSL. `ended`: in good order.
  enum class outcome : std::uint8_t { done, wants_read, wants_write, ended, failed };
  using step = void (tls_stream::*)();
  struct ssl_deleter {
    void operator()(ssl_st* x) const noexcept;
  };

  void wait_for(tcp::socket::wait_type what, step next);
  void soon(step next);
  void go_on_after(outcome x, step next);
  outcome outcome_of(int result) noexcept;
  void start();
  void shake_hands();
  void read_now();
  outcome read_records(std::size_t& size);
  void end_read(const error_code& failure, std::size_t transferred);
  void write_now();
  std::size_t write_records(std::span<const asio::const_buffer> from, outcome& result) noexcept;
  void fill_record(std::span<const asio::const_buffer> from, std::size_t skipped) noexcept;
  void end_write(const error_code& failure, std::size_t transferred);
  void answer_plain_text();
  void note_failure();
  void fail();

  const std::shared_ptr<asio::io_context> loop_; // outlives the socket
  const std::shared_ptr<const tls_context> context_;
  const std::vector<std::byte> refusal_; // of plain text; empty at a client
  tcp::socket socket_;

  std::mutex mutex_; // guards the following while a publisher may write
  tls_socket raw_;
  std::unique_ptr<ssl_st, ssl_deleter> ssl_;
  stage stage_ = stage::fresh;    // changed on the loop only
  std::vector<std::byte> record_; // what OpenSSL has not taken yet

  // On the loop only:
  asio::mutable_buffer into_;
  handler on_read_;
  bool more_to_read_ = false; // reading stopped because there was no room
  std::span<const asio::const_buffer> from_;
  handler on_written_;
  error failure_;
};

} // namespace pubsub
