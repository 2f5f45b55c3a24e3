// How an endpoint encrypts: whom it trusts, and how it proves who it is.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include <pubsub/error.hpp>
#include <pubsub/export.hpp>

namespace pubsub {

/// What `tls://` connections of an endpoint use, as in Broker. Where nothing is set
/// they are anonymous: encrypted, but anybody may be at the other end. Where
/// anything is set both sides must present a certificate that the other's authorities have signed;
/// names in certificates are not compared with host names. Both ends of a connection need the same
/// mode. All files are in PEM format, read when the endpoint first uses TLS; `endpoint::set_tls`
/// renews them.
struct PUBSUB_EXPORT tls_options {
  /// File with the certificate of this endpoint, and those between it and the authority.
  std::string certificate;
  /// File with the private key of the certificate.
  std::string key;
  /// Of the key, where it is encrypted; at most 1023 bytes.
  std::string passphrase;
  /// File with the certificates of the authorities whose signature counts. Those of the system
  /// never do.
  std::string ca_file;
  /// Folder with such certificates, named as `openssl rehash` names them; read as they are needed.
  std::string ca_path;

  /// Whether anything is set.
  bool authenticated() const noexcept;
  friend bool operator==(const tls_options&, const tls_options&) = default;
};

/// Whether connections can be made with `options`: reads the files and tries the passphrase. The
/// context of an error names the file and the cause. Errors: cannot_open_file (missing,
/// unreadable), invalid_argument (no PEM, a wrong passphrase, a key of another certificate, a part
/// without its counterpart), not_supported (this OpenSSL has no anonymous encryption).
PUBSUB_EXPORT expected<void> check(const tls_options& options);

} // namespace pubsub
