// A WebSocket server as that of a Zeek cluster, which does what a test says, step by step.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/buffers_to_string.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/websocket/stream.hpp>

namespace pubsub::test {

namespace asio = boost::asio;
namespace beast = boost::beast;

/// The server's side of one connection. What does not succeed within 20 seconds throws.
class websocket_party {
public:
  explicit websocket_party(asio::ip::tcp::socket socket) : stream_(std::move(socket)) {
    stream_.text(true);
  }

  /// Reads the HTTP request and accepts it.
  const beast::http::request<beast::http::string_body>& upgrade() {
    done([this](auto on_done) {
      beast::http::async_read(stream_.next_layer(), buffer_, request_, on_done);
    });
    done([this](auto on_done) { stream_.async_accept(request_, on_done); });
    return request_;
  }

  /// The next message; throws where the connection ends.
  std::string read() {
    beast::flat_buffer message;
    done([&](auto on_done) { stream_.async_read(message, on_done); });
    return beast::buffers_to_string(message.data());
  }

  void send(std::string_view message) {
    done([&](auto on_done) { stream_.async_write(asio::buffer(message), on_done); });
  }
  /// As bytes of the connection, whatever they are.
  void send_raw(std::string_view bytes) { asio::write(stream_.next_layer(), asio::buffer(bytes)); }

  void
  acknowledge(const std::string& endpoint = "5b0f2c42-0000-5000-8000-000000000001-websocket-0") {
    send(R"({"type":"ack","endpoint":")" + endpoint + R"(","version":"8.2.2"})");
  }

  /// The client may be gone once it has answered, which is no failure.
  void close(std::uint16_t code, const std::string& reason) {
    try {
      done([&](auto on_done) {
        stream_.async_close({static_cast<beast::websocket::close_code>(code), reason.c_str()},
                            on_done);
      });
    } catch (const boost::system::system_error&) {
    }
  }
  /// Reads until the client has said goodbye, and answers that.
  std::uint16_t until_closed() {
    try {
      while (true)
        read();
    } catch (const boost::system::system_error&) {
      return stream_.reason().code;
    }
  }

private:
  template <class Begin>
  void done(Begin begin) {
    std::optional<boost::system::error_code> outcome;
    begin([&](boost::system::error_code failed, auto...) { outcome = failed; });
    auto& loop = static_cast<asio::io_context&>(stream_.get_executor().context());
    loop.restart();
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds{20};
    while (!outcome && std::chrono::steady_clock::now() < end)
      loop.run_one_until(end);
    if (!outcome)
      throw std::runtime_error{"the client does nothing"};
    if (*outcome)
      throw boost::system::system_error{*outcome};
  }

  beast::websocket::stream<asio::ip::tcp::socket> stream_;
  beast::flat_buffer buffer_;
  beast::http::request<beast::http::string_body> request_;
};

/// Used by one thread. Outlives its parties.
class websocket_server {
public:
  std::string url() const {
    return "ws://127.0.0.1:" + std::to_string(acceptor_.local_endpoint().port());
  }

  /// The next connection, not upgraded yet.
  std::unique_ptr<websocket_party> accept() {
    std::optional<asio::ip::tcp::socket> accepted;
    acceptor_.async_accept(
        [&](const boost::system::error_code& failed, asio::ip::tcp::socket peer) {
          if (!failed)
            accepted.emplace(std::move(peer));
        });
    loop_.restart();
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds{20};
    while (!accepted && std::chrono::steady_clock::now() < end)
      loop_.run_one_until(end);
    if (!accepted)
      throw std::runtime_error{"no client comes"};
    return std::make_unique<websocket_party>(std::move(*accepted));
  }
  /// Of a connection as it should be, its subscriptions, which are acknowledged.
  std::pair<std::unique_ptr<websocket_party>, std::string> serve() {
    auto party = accept();
    party->upgrade();
    auto subscriptions = party->read();
    party->acknowledge();
    return {std::move(party), std::move(subscriptions)};
  }

private:
  asio::io_context loop_;
  asio::ip::tcp::acceptor acceptor_{loop_, {asio::ip::address_v4::loopback(), 0}};
};

} // namespace pubsub::test
