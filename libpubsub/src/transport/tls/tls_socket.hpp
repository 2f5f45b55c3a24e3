// A socket as OpenSSL reads and writes it.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <span>

#include <pubsub/error.hpp>
#include <pubsub/export.hpp>

#include "base/peer_identity.hpp"

struct bio_st; // OpenSSL's, known to the .cpp files only
struct ssl_st;

namespace pubsub {

inline constexpr std::size_t tls_record_header_bytes = 5;

/// Whether a stream that begins with these bytes is TLS: a record of one of its four types, of
/// version 3.x (RFC 8446, 5.1). False for fewer than three bytes.
inline bool looks_like_tls(std::span<const std::byte> bytes) noexcept {
  return bytes.size() >= 3 && bytes[0] >= std::byte{20} && bytes[0] <= std::byte{23} &&
         bytes[1] == std::byte{3} && bytes[2] <= std::byte{4};
}

/// Never blocks and never raises SIGPIPE. Remembers how the peer began, and how the connection
/// ended. Guarded by its user; outlives its BIO.
struct tls_socket {
  int fd = -1; ///< not owned
  bool ended = false;
  int failure = 0; ///< errno of the first call that failed
  std::array<std::byte, tls_record_header_bytes> beginning{};
  std::size_t beginning_bytes = 0;

  std::span<const std::byte> begins_with() const noexcept {
    return std::span{beginning}.first(beginning_bytes);
  }
};

/// Belongs to the caller, or to whom it is given to. Throws std::bad_alloc.
bio_st* make_bio(tls_socket& socket);

/// The names in the peer's certificate; none where it has shown none.
PUBSUB_EXPORT peer_identity peer_identity_of(const ssl_st* ssl);

/// What has just failed on `ssl`, whose socket is `socket`, in words the peer's operator can act
/// upon; forgets what OpenSSL has noted of it. Errors: peer_unavailable where the connection ended
/// once it was established, otherwise tls_failed.
error explain_tls_failure(ssl_st* ssl, const tls_socket& socket, bool established);

} // namespace pubsub
