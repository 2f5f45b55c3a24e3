// SPDX-License-Identifier: BSD-3-Clause
#include "cluster/client/byte_stream.hpp"

#include <boost/asio/write.hpp>

namespace pubsub::cluster {

byte_stream::byte_stream(executor ex) : socket_(ex) {}

void byte_stream::arrived(std::size_t n) {
  begin_ = 0;
  end_ = n;
  filter_.pass(std::span{in_}.first(n));
  if (n > 0)
    last_read_ = clock::now();
}

void byte_stream::flush() {
  if (!sending_.empty() || out_.empty() || failed_)
    return;
  std::swap(sending_, out_);
  std::swap(sending_messages_, out_messages_);
  const auto done = [this, owner = owner_.lock()](const error_code& failed, std::size_t) {
    sent(failed);
  };
  if (encrypted_)
    asio::async_write(*encrypted_, asio::buffer(sending_), done);
  else
    asio::async_write(socket_, asio::buffer(sending_), done);
}

void byte_stream::say_goodbye() {
  // RFC 6455, 5.2 and 7.4.1: the last fragment, closing; masked, by nothing; 1000, all is well.
  static constexpr unsigned char frame[] = {0x88, 0x82, 0, 0, 0, 0, 1000 >> 8, 1000 & 0xff};
  append(asio::buffer(frame));
  said_goodbye_ = true;
  flush();
}

void byte_stream::sent(const error_code& failed) {
  failed_ = static_cast<bool>(failed);
  if (failed_)
    return;
  sending_.clear();
  on_flushed(std::exchange(sending_messages_, 0));
  flush();
}

void byte_stream::close() noexcept {
  error_code ignored;
  socket_.close(ignored);
}

void byte_stream::finish() noexcept {
  error_code ignored;
  if (sending_.empty() && !out_.empty()) { // the answer to the server's goodbye
    socket_.non_blocking(true, ignored);
    if (encrypted_)
      encrypted_->write_some(asio::buffer(out_), ignored);
    else
      socket_.write_some(asio::buffer(out_), ignored);
  }
  socket_.shutdown(tcp_socket::shutdown_send, ignored);
}

} // namespace pubsub::cluster
