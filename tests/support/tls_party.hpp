// The other side of a TLS connection, as plain OpenSSL on a plain socket: what Broker does.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>

#include <fcntl.h>

#include <openssl/err.h>
#include <openssl/ssl.h>

#include "support/raw_socket.hpp"

namespace pubsub::test {

/// Blocks; a party that is not answered waits for at most `patience`. Without certificates it
/// offers exactly what Broker does.
class tls_party {
public:
  enum class role { client, server };

  tls_party(raw_socket socket, role which) : socket_(std::move(socket)) {
    context_.reset(SSL_CTX_new(TLS_method()));
    SSL_CTX_set_min_proto_version(context_.get(), TLS1_2_VERSION);
    if (SSL_CTX_set_cipher_list(context_.get(), "AECDH-AES256-SHA@SECLEVEL=0") != 1 ||
        SSL_CTX_set1_groups_list(context_.get(), "P-384") != 1)
      throw std::runtime_error{"no anonymous cipher"};
    ssl_.reset(SSL_new(context_.get()));
    const timeval limit{patience.count(), 0};
    ::setsockopt(socket_.fd(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    ::setsockopt(socket_.fd(), SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    SSL_set_fd(ssl_.get(), socket_.fd());
    which == role::client ? SSL_set_connect_state(ssl_.get()) : SSL_set_accept_state(ssl_.get());
  }

  bool shake_hands() { return SSL_do_handshake(ssl_.get()) == 1; }
  bool send(const buffer& bytes) {
    return SSL_write(ssl_.get(), bytes.data(), static_cast<int>(bytes.size())) ==
           static_cast<int>(bytes.size());
  }
  /// Exactly `size` bytes, or fewer where the stream ends.
  buffer read(std::size_t size) {
    buffer out(size);
    std::size_t have = 0;
    while (have < size) {
      const auto n = SSL_read(ssl_.get(), out.data() + have, static_cast<int>(size - have));
      if (n <= 0)
        break;
      have += static_cast<std::size_t>(n);
    }
    out.resize(have);
    return out;
  }
  /// Whether the peer says that it will send no more, instead of just going away.
  bool is_told_the_end() {
    read(1 << 20);
    return (SSL_get_shutdown(ssl_.get()) & SSL_RECEIVED_SHUTDOWN) != 0;
  }
  std::string version() const { return SSL_get_version(ssl_.get()); }
  std::string cipher() const { return SSL_get_cipher_name(ssl_.get()); }
  raw_socket& socket() { return socket_; }

private:
  struct free_ssl {
    void operator()(SSL* x) const { SSL_free(x); }
    void operator()(SSL_CTX* x) const { SSL_CTX_free(x); }
  };
  raw_socket socket_;
  std::unique_ptr<SSL_CTX, free_ssl> context_;
  std::unique_ptr<SSL, free_ssl> ssl_;
};

} // namespace pubsub::test
