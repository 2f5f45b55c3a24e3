// A WebSocket client byte by byte, so that tests can send what no library would.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "support/raw_socket.hpp"

namespace pubsub::test {

/// A frame as it came; `kind` is its opcode.
struct websocket_frame {
  int kind = 0;
  std::string text;

  /// Of a close: its code, 0 without one.
  unsigned code() const {
    return text.size() < 2 ? 0
                           : static_cast<unsigned>(static_cast<unsigned char>(text[0]) << 8 |
                                                   static_cast<unsigned char>(text[1]));
  }
  std::string reason() const { return text.size() < 2 ? "" : text.substr(2); }
};

class websocket_client {
public:
  static constexpr int text = 1, binary = 2, close = 8, ping = 9, pong = 10;

  explicit websocket_client(std::uint16_t port, int receive_buffer_bytes = 0)
      : socket_(raw_socket::connect(port, receive_buffer_bytes)) {}

  raw_socket& socket() noexcept { return socket_; }
  bool send_bytes(std::string_view bytes) {
    return socket_.send(std::as_bytes(std::span{bytes.data(), bytes.size()}));
  }

  /// The status of the answer to a request for an upgrade; 0 if there is none.
  int upgrade(std::string_view fields = {}, std::string_view target = "/v1/messages/json") {
    send_bytes("GET " + std::string{target} +
               " HTTP/1.1\r\nHost: localhost:1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
               "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\n" +
               std::string{fields} + "\r\n");
    return read_answer();
  }
  int read_answer() {
    head_.clear();
    while (!head_.ends_with("\r\n\r\n")) {
      const auto byte = socket_.read(1);
      if (byte.empty())
        return 0;
      head_ += static_cast<char>(byte[0]);
    }
    return std::stoi(head_.substr(head_.find(' ')));
  }
  const std::string& head() const noexcept { return head_; }

  /// Masked with zeros, which leaves the bytes as they are.
  static std::string frame(int kind, std::string_view bytes, bool final = true) {
    std::string out(1, static_cast<char>((final ? 0x80 : 0) | kind));
    const auto size = bytes.size();
    const auto append_size = [&](int n) {
      for (int i = n - 1; i >= 0; --i)
        out += static_cast<char>(size >> (8 * i) & 0xff);
    };
    if (size < 126) {
      out += static_cast<char>(0x80 | size);
    } else {
      out += static_cast<char>(0x80 | (size < 65536 ? 126 : 127));
      append_size(size < 65536 ? 2 : 8);
    }
    return out.append(4, '\0').append(bytes);
  }
  bool send(std::string_view bytes, int kind = text) { return send_bytes(frame(kind, bytes)); }

  /// The next frame of any kind; nothing where the stream ends.
  std::optional<websocket_frame> read_any(std::chrono::milliseconds limit = patience) {
    const auto head = socket_.read(2, limit);
    if (head.size() < 2)
      return {};
    auto size = std::to_integer<std::size_t>(head[1]) & 127U;
    if (size > 125) {
      const auto more = socket_.read(size == 126 ? 2 : 8, limit);
      size = 0;
      for (const auto byte : more)
        size = size << 8 | std::to_integer<std::size_t>(byte);
    }
    const auto body = socket_.read(size, limit);
    return websocket_frame{std::to_integer<int>(head[0]) & 15,
                           {reinterpret_cast<const char*>(body.data()), body.size()}};
  }
  /// The next one that is no ping; those are answered.
  std::optional<websocket_frame> read(std::chrono::milliseconds limit = patience) {
    while (true) {
      auto found = read_any(limit);
      if (!found || found->kind != ping)
        return found;
      send(found->text, pong);
    }
  }
  /// The text of the next frame; empty if it is none.
  std::string read_text(std::chrono::milliseconds limit = patience) {
    const auto found = read(limit);
    return found && found->kind == text ? found->text : "";
  }
  /// What the server closes with.
  std::pair<unsigned, std::string> read_close() {
    while (const auto found = read())
      if (found->kind == close)
        return {found->code(), found->reason()};
    return {};
  }

private:
  raw_socket socket_;
  std::string head_;
};

} // namespace pubsub::test
