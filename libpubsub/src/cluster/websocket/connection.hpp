// The socket of a client, encrypted or not: HTTP first, then WebSocket.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <concepts>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "cluster/websocket/beast.hpp"
#include "cluster/websocket/client.hpp"
#include "cluster/websocket/gathering_stream.hpp"
#include "cluster/websocket/tuning.hpp"
#include "transport/tls/tls_socket.hpp"

namespace pubsub::cluster {

using plain_socket = asio::basic_stream_socket<tcp, asio::io_context::executor_type>;
using encrypted_socket = asio::ssl::stream<plain_socket>;

template <class Socket>
class connection final : public client {
public:
  /// `with`: what the socket is made of.
  template <class... With>
  connection(client_host& host, asio::io_context& loop, const tcp::endpoint& remote, With&&... with)
      : client(host, loop), address_(text_of(remote)), socket_(std::forward<With>(with)...),
        request_buffer_(websocket_tuning::max_request_bytes) {}

  void start() override {
    stream().set_owner(weak_from_this());
    limit_handshake();
    if constexpr (is_encrypted)
      stream().next_layer().async_handshake(
          asio::ssl::stream_base::server,
          [self = self()](error_code failure) { failure ? self->on_end() : self->read_request(); });
    else
      read_request();
  }

private:
  static constexpr bool is_encrypted = std::same_as<Socket, encrypted_socket>;
  using stream_type = gathering_stream<Socket>;
  // Without compression: it would cost more time than the network saves.
  using socket_type = websocket::stream<stream_type, false>;

  std::shared_ptr<connection> self() {
    return std::static_pointer_cast<connection>(shared_from_this());
  }
  stream_type& stream() noexcept { return socket_.next_layer(); }
  const stream_type& stream() const noexcept { return socket_.next_layer(); }
  plain_socket& lowest() noexcept {
    if constexpr (is_encrypted)
      return stream().next_layer().next_layer();
    else
      return stream().next_layer();
  }
  static std::string text_of(const tcp::endpoint& x) {
    auto address = x.address();
    if (address.is_v6() && address.to_v6().is_v4_mapped())
      address = asio::ip::make_address_v4(asio::ip::v4_mapped, address.to_v6());
    return address.to_string() + ":" + std::to_string(x.port());
  }

  // -- HTTP
  // ----------------------------------------------------------------------------------------

  void read_request() {
    parser_.emplace();
    parser_->header_limit(websocket_tuning::max_request_bytes / 2);
    http::async_read_header(stream(), request_buffer_, *parser_,
                            [self = self()](error_code failure, std::size_t) {
                              if (self->is_closing())
                                return self->on_end();
                              failure ? self->on_bad_request(failure) : self->answer_request();
                            });
  }

  void on_bad_request(error_code failure) {
    const bool is_http = failure.category() == make_error_code(http::error::bad_method).category();
    if (is_http && failure != http::error::end_of_stream && failure != http::error::partial_message)
      return refuse({400, "This is no request of HTTP/1.1, or its header is too long."});
    on_end();
  }

  std::string_view field(std::string_view name) const {
    const auto value = parser_->get()[boost::beast::string_view{name.data(), name.size()}];
    return {value.data(), value.size()};
  }

  void answer_request() {
    const auto& request = parser_->get();
    if (!websocket::is_upgrade(request))
      return refuse({400, "Here is a WebSocket (version 13), and nothing else."});
    const auto target = request.target();
    peer_identity identity;
    if constexpr (is_encrypted)
      identity = peer_identity_of(stream().next_layer().native_handle());
    auto refusal = on_request({.target = {target.data(), target.size()},
                               .host = field("Host"),
                               .origin = field("Origin"),
                               .authorization = field("Authorization"),
                               .protocols = field("Sec-WebSocket-Protocol"),
                               .application = field(application_name_header)},
                              std::move(identity), address_);
    if (refusal)
      return refuse(*refusal);
    upgrade_request_to_websocket();
  }

  void upgrade_request_to_websocket() {
    socket_.set_option(websocket::stream_base::decorator([self = this](auto& response) {
      response.set(http::field::server, "libpubsub");
      if (!self->protocol().empty())
        response.set(http::field::sec_websocket_protocol, self->protocol());
    }));
    socket_.read_message_max(host_.options().max_message_bytes);
    socket_.auto_fragment(false);
    socket_.text(true);
    socket_.control_callback([self = this](websocket::frame_type kind, beast::string_view) {
      if (kind == websocket::frame_type::pong)
        self->on_pong();
    });
    stream().unread(request_buffer_.data());
    socket_.async_accept(parser_->get(), [self = self()](error_code failure) {
      self->parser_.reset();
      self->request_buffer_.clear();
      self->request_buffer_.shrink_to_fit();
      failure || self->is_closing() ? self->on_end() : self->on_upgraded();
    });
  }

  void refuse(const http_refusal& why) {
    const auto reason = http::obsolete_reason(static_cast<http::status>(why.status));
    const auto body = why.sentence + "\n";
    std::string text = "HTTP/1.1 " + std::to_string(why.status) + " ";
    text.append(reason.data(), reason.size());
    text +=
        "\r\nServer: libpubsub\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n";
    if (why.asks_for_token)
      text += "WWW-Authenticate: Bearer\r\n";
    text += "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
    error_code ignored;
    stream().write_some(asio::buffer(text), ignored);
    stream().after_everything([self = self()] {
      error_code unimportant;
      self->lowest().shutdown(tcp::socket::shutdown_send, unimportant);
      self->discard();
    });
  }

  /// Until the other side ends it, too, or the time for that is over: closing at once
  /// could make the answer disappear.
  void discard() {
    lowest().async_read_some(asio::buffer(discarded_),
                             [self = self()](error_code failure, std::size_t) {
                               failure ? self->on_end() : self->discard();
                             });
  }

  // -- WebSocket
  // -----------------------------------------------------------------------------------

  void receive() override {
    socket_.async_read(buffer_, [self = self()](error_code failure, std::size_t) {
      if (failure)
        return self->on_read_failure(failure);
      // The next read begins while this message is looked at.
      swap(self->buffer_, self->message_);
      self->buffer_.clear();
      if (self->buffer_.capacity() > max_kept_bytes)
        self->buffer_.shrink_to_fit();
      const auto bytes = self->message_.data();
      self->on_text({static_cast<const char*>(bytes.data()), bytes.size()});
    });
  }

  void on_read_failure(error_code failure) {
    if (failure.category() == make_error_code(websocket::error::closed).category() &&
        failure != websocket::error::closed && !is_closing()) {
      add(host_.counts().bad_frames);
      begin_goodbye();
      return discard();
    }
    on_end();
  }

  void send(std::string_view text) override {
    error_code failure; // shows in the next read
    socket_.write(asio::buffer(text.data(), text.size()), failure);
  }
  void send_ping() override {
    error_code failure;
    socket_.ping({}, failure);
  }
  void send_close(websocket::close_reason why) override {
    socket_.async_close(why, [self = self()](error_code) { self->on_end(); });
  }
  void cut() override {
    error_code ignored;
    lowest().close(ignored);
  }
  std::size_t unsent_bytes() const override { return stream().unsent_bytes(); }
  std::uint64_t written_bytes() const override { return stream().written_bytes(); }
  bool has_room() const override { return stream().has_room(); }
  void after_progress() override {
    stream().after_progress([self = self()] { self->resume(); });
  }

  static constexpr std::size_t max_kept_bytes = 64 * 1024;

  const std::string address_;
  socket_type socket_;
  beast::flat_buffer request_buffer_;
  std::optional<http::request_parser<http::empty_body>> parser_;
  beast::flat_buffer buffer_;  // that is read into
  beast::flat_buffer message_; // that was read before
  std::array<char, 512> discarded_{};
};

} // namespace pubsub::cluster
