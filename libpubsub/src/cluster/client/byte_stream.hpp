// Bytes of a connection, encrypted or not, read and written many messages at a time.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "cluster/client/beast.hpp"
#include "cluster/client/frame_filter.hpp"

#include <boost/beast/websocket/teardown.hpp>

namespace pubsub::cluster {

/// What Boost.Beast takes for a socket. It reads and writes as few bytes as it has just need of;
/// here they come from and go to buffers. Writing always takes everything at once: who writes looks
/// at `waiting_bytes`. Where writing fails that is not the end: what is read tells why the other
/// side has gone. Not thread-safe.
class byte_stream {
public:
  using executor_type = executor;
  using clock = std::chrono::steady_clock;

  explicit byte_stream(executor ex);

  executor_type get_executor() noexcept { return socket_.get_executor(); }
  tcp_socket& socket() noexcept { return socket_; }
  /// From now on the bytes are encrypted; to be called once the socket is connected.
  asio::ssl::stream<tcp_socket&>& encrypt(asio::ssl::context& context) {
    return encrypted_.emplace(socket_, context);
  }

  SSL* tls() noexcept { return encrypted_->native_handle(); }

  /// Kept alive by what is under way; this stream is a part of it.
  void belongs_to(std::weak_ptr<void> owner) { owner_ = std::move(owner); }

  /// Sends the frame that closes a WebSocket behind what waits; all that is written later is left
  /// out.
  void say_goodbye();

  /// A message was written as a whole.
  void note_message() noexcept { ++out_messages_; }
  /// Sends what waits, if nothing is under way.
  void flush();
  std::size_t waiting_bytes() const noexcept { return out_.size() + sending_.size(); }
  std::uint64_t waiting_messages() const noexcept { return out_messages_ + sending_messages_; }
  /// Called whenever so many more messages are with the kernel.
  std::function<void(std::uint64_t)> on_flushed;
  /// When something was read last.
  clock::time_point last_read() const noexcept { return last_read_; }

  /// Cancels everything.
  void close() noexcept;
  /// Tells the other side that nothing more comes, behind what can be sent at once.
  void finish() noexcept;

  // -- what Beast calls --------------------------------------------------------------------------

  template <class Buffers, class Handler>
  void async_read_some(const Buffers& into, Handler&& handler) {
    if (begin_ < end_)
      return asio::post(get_executor(),
                        [this, into, handler = std::forward<Handler>(handler)]() mutable {
                          handler(error_code{}, take(into));
                        });
    auto done = [this, into, handler = std::forward<Handler>(handler)](error_code failed,
                                                                       std::size_t n) mutable {
      arrived(n);
      handler(failed, take(into));
    };
    if (encrypted_)
      encrypted_->async_read_some(asio::buffer(in_), std::move(done));
    else
      socket_.async_read_some(asio::buffer(in_), std::move(done));
  }

  /// A frame as a whole that Beast sends by itself: an answer, for the most part. It is left out
  /// where very much waits: a server that asks without end and reads nothing gets no more answers.
  template <class Buffers, class Handler>
  void async_write_some(const Buffers& from, Handler&& handler) {
    const auto n = asio::buffer_size(from);
    if (waiting_bytes() < max_bytes_before_answers)
      append(from);
    flush();
    asio::post(get_executor(), [n, handler = std::forward<Handler>(handler)]() mutable {
      handler(error_code{}, n);
    });
  }

  // Without waiting there is only writing, to be followed by `flush`.
  template <class Buffers>
  std::size_t write_some(const Buffers& from, error_code& /*failed*/) {
    return append(from);
  }
  template <class Buffers>
  std::size_t write_some(const Buffers& from) {
    return append(from);
  }
  template <class Buffers>
  std::size_t read_some(const Buffers& /*into*/, error_code& failed) {
    failed = asio::error::operation_not_supported;
    return 0;
  }
  template <class Buffers>
  std::size_t read_some(const Buffers& /*into*/) {
    return 0;
  }

private:
  static constexpr std::size_t read_bytes = 256 * 1024;
  static constexpr std::size_t max_bytes_before_answers = 4 * 1024 * 1024;

  template <class Buffers>
  std::size_t append(const Buffers& from) {
    if (said_goodbye_)
      return asio::buffer_size(from);
    const auto before = out_.size();
    for (auto each = asio::buffer_sequence_begin(from); each != asio::buffer_sequence_end(from);
         ++each) {
      const asio::const_buffer piece = *each;
      const auto* const data = static_cast<const char*>(piece.data());
      out_.insert(out_.end(), data, data + piece.size());
    }
    return out_.size() - before;
  }

  template <class Buffers>
  std::size_t take(const Buffers& into) {
    const auto n = asio::buffer_copy(into, asio::buffer(in_.data() + begin_, end_ - begin_));
    begin_ += n;
    return n;
  }

  void arrived(std::size_t n);
  void sent(const error_code& failed);

  tcp_socket socket_;
  std::optional<asio::ssl::stream<tcp_socket&>> encrypted_;

  std::vector<char> in_ = std::vector<char>(read_bytes);
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  frame_filter filter_;
  clock::time_point last_read_ = clock::now();

  std::weak_ptr<void> owner_;
  std::vector<char> out_;
  std::uint64_t out_messages_ = 0;
  std::vector<char> sending_; // empty while nothing is under way
  std::uint64_t sending_messages_ = 0;
  bool said_goodbye_ = false;
  bool failed_ = false; // writing
};

/// Beast ends a connection with these. The client waits for nothing then: it has read the last
/// frame of the server.
template <class Handler>
void async_teardown(boost::beast::role_type /*role*/, byte_stream& stream, Handler&& handler) {
  stream.finish();
  asio::post(stream.get_executor(),
             [handler = std::forward<Handler>(handler)]() mutable { handler(error_code{}); });
}
inline void beast_close_socket(byte_stream& stream) {
  stream.close();
}

} // namespace pubsub::cluster
