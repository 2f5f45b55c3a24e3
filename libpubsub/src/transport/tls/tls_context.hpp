// What encrypted connections share: keys, certificates and trust.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <memory>
#include <optional>

#include <pubsub/error.hpp>
#include <pubsub/export.hpp>
#include <pubsub/tls_options.hpp>

struct ssl_ctx_st; // OpenSSL's, known to the .cpp files only

namespace pubsub {

/// Constant once made, so safe to use from any thread; null before.
using tls_context = std::shared_ptr<ssl_ctx_st>;

/// Made once for an endpoint, shared by its connections. Errors: as `check(tls_options)`. Throws
/// std::bad_alloc.
expected<tls_context> make_tls_context(const tls_options& options);

/// For a server whose clients are not peers: they compare its certificate with its name, and need
/// not show one themselves. What they do show must be signed by the authorities; without these none
/// is asked for. Errors: as above; invalid_argument without a certificate. Throws std::bad_alloc.
PUBSUB_EXPORT expected<tls_context> make_tls_server_context(const tls_options& options);

/// When the certificate of this side expires; nothing if it shows none.
std::optional<std::chrono::sys_seconds> certificate_expiry(const tls_context& context);

} // namespace pubsub
