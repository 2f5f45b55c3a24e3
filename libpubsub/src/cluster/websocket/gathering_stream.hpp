// Between Beast and a socket: many frames a system call, in both directions.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cluster/websocket/beast.hpp"

namespace pubsub::cluster {

/// What is written is gathered, and goes to the socket once the handler at hand has returned; so
/// writing never waits, and each write is taken as a whole: a synchronous one may come between the
/// asynchronous ones of Beast. Those end once there is room again, which holds a client back that
/// makes the server answer and does not read. What is read comes from a buffer of its own.
/// Thread-safety: the thread of its loop. Handlers keep the owner alive.
template <class Next>
class gathering_stream {
public:
  using next_layer_type = Next;
  using executor_type = typename Next::executor_type;

  template <class... Args>
  explicit gathering_stream(Args&&... args)
      : next_(std::forward<Args>(args)...), progress_(next_.get_executor(), far_future()) {}

  void set_owner(std::weak_ptr<void> owner) { owner_ = std::move(owner); }
  executor_type get_executor() noexcept { return next_.get_executor(); }
  Next& next_layer() noexcept { return next_; }
  const Next& next_layer() const noexcept { return next_; }

  /// Bytes that the kernel has not taken yet.
  std::size_t unsent_bytes() const noexcept { return gathered_.size() + being_written_.size(); }
  bool has_room() const noexcept { return unsent_bytes() < room_bytes; }
  /// Bytes that the kernel has taken so far.
  std::uint64_t written_bytes() const noexcept { return written_bytes_; }

  /// What was read too far comes first in the next read. Called before any other read.
  void unread(asio::const_buffer bytes) {
    const auto* const from = static_cast<const char*>(bytes.data());
    read_.assign(from, from + bytes.size());
    read_at_ = 0;
    read_end_ = bytes.size();
  }

  /// Calls `done` once something more was written, or cannot be.
  template <class Done>
  void after_progress(Done done) {
    progress_.async_wait(
        [owner = owner_.lock(), done = std::move(done)](error_code) mutable { done(); });
  }
  /// Calls `done` once all is written, or cannot be.
  template <class Done>
  void after_everything(Done done) {
    if (unsent_bytes() == 0 || failure_)
      asio::post(get_executor(), std::move(done));
    else
      after_progress(
          [this, done = std::move(done)]() mutable { after_everything(std::move(done)); });
  }

  // -- for Beast
  // -----------------------------------------------------------------------------------

  template <class Buffers>
  std::size_t write_some(const Buffers& data, error_code& failure) {
    failure = failure_;
    return failure ? 0 : gather(data);
  }
  template <class Buffers>
  std::size_t write_some(const Buffers& data) {
    error_code failure;
    const auto n = write_some(data, failure);
    if (failure)
      throw boost::system::system_error{failure};
    return n;
  }
  template <class Buffers>
  std::size_t read_some(const Buffers& to, error_code& failure) {
    return next_.read_some(to, failure);
  }
  template <class Buffers>
  std::size_t read_some(const Buffers& to) {
    return next_.read_some(to);
  }

  template <class Buffers, class Token>
  auto async_write_some(const Buffers& data, Token&& token) {
    return asio::async_initiate<Token, void(error_code, std::size_t)>(
        [this](auto handler, const Buffers& bytes) {
          const auto n = failure_ ? 0 : gather(bytes);
          if (failure_ || has_room())
            asio::post(get_executor(), beast::bind_front_handler(std::move(handler), failure_, n));
          else
            after_progress(
                [this, handler = std::move(handler), n]() mutable { handler(failure_, n); });
        },
        token, data);
  }

  template <class Buffers, class Token>
  auto async_read_some(const Buffers& to, Token&& token) {
    return asio::async_initiate<Token, void(error_code, std::size_t)>(
        [this](auto handler, const Buffers& target) {
          if (read_at_ < read_end_) {
            asio::post(get_executor(), beast::bind_front_handler(std::move(handler), error_code{},
                                                                 take_read(target)));
            return;
          }
          if (asio::buffer_size(target) >= read_bytes)
            return next_.async_read_some(target, std::move(handler));
          read_.resize(read_bytes); // in a buffer of this size already, but for the first time
          next_.async_read_some(asio::buffer(read_),
                                [this, owner = owner_.lock(), target, handler = std::move(handler)](
                                    error_code failure, std::size_t n) mutable {
                                  read_at_ = 0;
                                  read_end_ = n;
                                  handler(failure, take_read(target));
                                });
        },
        token, to);
  }

private:
  static constexpr std::size_t read_bytes = 32 * 1024;
  static constexpr std::size_t room_bytes = 256 * 1024;
  static constexpr std::size_t kept_bytes = 16 * 1024;

  static asio::steady_timer::time_point far_future() {
    return asio::steady_timer::time_point::max();
  }

  template <class Buffers>
  std::size_t gather(const Buffers& data) {
    const auto before = gathered_.size();
    for (auto each = asio::buffer_sequence_begin(data); each != asio::buffer_sequence_end(data);
         ++each) {
      const asio::const_buffer bytes{*each};
      gathered_.append(static_cast<const char*>(bytes.data()), bytes.size());
    }
    if (!std::exchange(flushing_, true))
      asio::post(get_executor(), [this, owner = owner_.lock()] { flush(); });
    return gathered_.size() - before;
  }

  void flush() {
    being_written_.clear();
    if (failure_)
      gathered_.clear();
    flushing_ = !gathered_.empty();
    if (!flushing_)
      return keep_little();
    being_written_.swap(gathered_);
    asio::async_write(next_, asio::buffer(being_written_),
                      [this, owner = owner_.lock()](error_code failure, std::size_t n) {
                        failure_ = failure;
                        written_bytes_ += n;
                        flush();
                        progress_.cancel();
                      });
  }

  /// A client to which nothing is to be written holds no memory for it.
  void keep_little() {
    for (auto* each : {&gathered_, &being_written_})
      if (each->capacity() > kept_bytes)
        each->shrink_to_fit(); // it is empty
  }

  template <class Buffers>
  std::size_t take_read(const Buffers& target) {
    const auto n = asio::buffer_copy(target, asio::buffer(read_, read_end_) + read_at_);
    read_at_ += n;
    return n;
  }

  Next next_;
  std::weak_ptr<void> owner_;
  asio::steady_timer progress_;

  std::string gathered_;
  std::string being_written_;
  bool flushing_ = false;
  error_code failure_;
  std::uint64_t written_bytes_ = 0;

  std::vector<char> read_;
  std::size_t read_at_ = 0; // what is not taken begins there
  std::size_t read_end_ = 0;
};

/// Beast parts from the socket in this way, once its last frame is on its way. It does not wait for
/// the other side: that is for who has set a time.
template <class Next, class Handler>
void async_teardown(beast::role_type, gathering_stream<Next>& stream, Handler&& handler) {
  stream.after_everything([&stream, handler = std::forward<Handler>(handler)]() mutable {
    error_code failure;
    beast::get_lowest_layer(stream).shutdown(tcp::socket::shutdown_send, failure);
    handler(failure);
  });
}

template <class Next>
void teardown(beast::role_type, gathering_stream<Next>& stream, error_code& failure) {
  beast::get_lowest_layer(stream).shutdown(tcp::socket::shutdown_send, failure);
}

} // namespace pubsub::cluster
