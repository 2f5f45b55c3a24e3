// Keys, certificates and trust of an endpoint, in the form OpenSSL takes.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <pubsub/tls_options.hpp>

struct bio_method_st; // OpenSSL's, known to the .cpp files only
struct ssl_ctx_st;

namespace pubsub {

/// Who begins; the side that has connected is the client.
enum class tls_role : std::uint8_t { client, server };

/// Made once for an endpoint, shared by its connections. Constant, so safe to use from any thread.
class tls_context {
public:
  /// Errors: as `check(tls_options)`.
  static expected<std::shared_ptr<const tls_context>> make(const tls_options& options);
  ~tls_context();
  tls_context(const tls_context&) = delete;
  tls_context& operator=(const tls_context&) = delete;

  ssl_ctx_st* get() const noexcept { return context_; }
  /// How OpenSSL reads and writes a `tls_socket`.
  bio_method_st* socket_method() const noexcept { return method_; }

private:
  tls_context();
  error set_up(const tls_options& options);

  ssl_ctx_st* const context_;
  bio_method_st* const method_;
};

} // namespace pubsub
