// A socket as OpenSSL reads and writes it.
#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "transport/tls/tls_record.hpp"

struct bio_method_st;
struct bio_st;

namespace pubsub {

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

/// Throws std::bad_alloc. The caller frees it, after every BIO made with it.
bio_method_st* make_tls_socket_method();
/// Belongs to the caller, or to whom it is given to. Throws std::bad_alloc.
bio_st* make_bio(bio_method_st* method, tls_socket& socket);

} // namespace pubsub
