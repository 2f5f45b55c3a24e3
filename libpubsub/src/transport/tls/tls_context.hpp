// Keys, certificates and trust of an endpoint, in the form OpenSSL takes.
#pragma once

#include <memory>

#include <pubsub/tls_options.hpp>

struct ssl_ctx_st; // OpenSSL's, known to the .cpp files only

namespace pubsub {

/// Constant once made, so safe to use from any thread; null before.
using tls_context = std::shared_ptr<ssl_ctx_st>;

/// Made once for an endpoint, shared by its connections. Errors: as `check(tls_options)`. Throws
/// std::bad_alloc.
expected<tls_context> make_tls_context(const tls_options& options);

} // namespace pubsub
