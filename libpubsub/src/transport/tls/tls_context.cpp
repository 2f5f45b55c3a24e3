// SPDX-License-Identifier: BSD-3-Clause
#include "transport/tls/tls_context.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>

#include <fcntl.h>
#include <sys/stat.h>

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>

#include "base/unique_fd.hpp"

namespace pubsub {

namespace {

// The only cipher and group that Broker offers without certificates. The
// cipher counts as weak because it proves nobody's identity, hence the security level.
constexpr const char* anonymous_ciphers = "AECDH-AES256-SHA@SECLEVEL=0";
constexpr const char* anonymous_group = "P-384";
constexpr const char* authenticated_ciphers = "HIGH:!aNULL:!MD5";
constexpr std::size_t read_buffer_bytes = 64 * 1024;
constexpr std::size_t max_passphrase_bytes = 1023; // what OpenSSL has room for

/// The newest failure OpenSSL has noted; forgets all of them.
std::string last_reason() {
  const auto code = ERR_peek_last_error();
  ERR_clear_error();
  const char* text = ERR_reason_error_string(code);
  return text != nullptr ? text : "OpenSSL gives no reason";
}

error unusable(const std::string& path, const std::string& why) {
  return {errc::invalid_argument, path + ": " + why};
}

/// None if the file (or, if so asked, folder) can be opened.
error try_to_open(const std::string& path, bool folder = false) {
  unique_fd fd{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  struct stat what {};
  if (fd.get() < 0 || ::fstat(fd.get(), &what) != 0)
    return {errc::cannot_open_file, path + ": " + std::strerror(errno)};
  if (S_ISDIR(what.st_mode) != folder)
    return {errc::cannot_open_file, path + (folder ? ": not a folder" : ": Is a directory")};
  return {};
}

bool has_authorities(const tls_options& x) {
  return !x.ca_file.empty() || !x.ca_path.empty();
}

/// What is set although it means nothing alone.
error check_parts(const tls_options& x) {
  if (x.certificate.empty() != x.key.empty())
    return x.key.empty() ? unusable(x.certificate, "a certificate needs its private key")
                         : unusable(x.key, "a private key needs its certificate");
  if (x.key.empty() && !x.passphrase.empty())
    return {errc::invalid_argument, "a passphrase without a private key"};
  if (x.passphrase.size() > max_passphrase_bytes)
    return {errc::invalid_argument,
            "the passphrase is longer than " + std::to_string(max_passphrase_bytes) + " bytes"};
  return {};
}

struct passphrase_request {
  const std::string& answer;
  bool asked = false;
};

int answer_with_passphrase(char* into, int size, int /*writing*/, void* data) {
  auto& request = *static_cast<passphrase_request*>(data);
  request.asked = true;
  const auto& text = request.answer;
  if (text.empty() || text.size() > static_cast<std::size_t>(size))
    return -1;
  std::memcpy(into, text.data(), text.size());
  return static_cast<int>(text.size());
}

error load_key(SSL_CTX* context, const tls_options& x) {
  if (auto failure = try_to_open(x.key))
    return failure;
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file{std::fopen(x.key.c_str(), "re"),
                                                             &std::fclose};
  passphrase_request request{x.passphrase};
  const std::unique_ptr<EVP_PKEY, void (*)(EVP_PKEY*)> key{
      file ? PEM_read_PrivateKey(file.get(), nullptr, answer_with_passphrase, &request) : nullptr,
      &EVP_PKEY_free};
  if (!key && request.asked)
    return unusable(x.key, x.passphrase.empty()
                               ? "the private key is encrypted and there is no passphrase"
                               : "the passphrase does not open the private key");
  if (!key)
    return unusable(x.key, "no private key in PEM format (" + last_reason() + ")");
  if (SSL_CTX_use_PrivateKey(context, key.get()) != 1 || SSL_CTX_check_private_key(context) != 1)
    return unusable(x.key,
                    "not the key of the certificate " + x.certificate + " (" + last_reason() + ")");
  return {};
}

error load_certificate(SSL_CTX* context, const std::string& path) {
  if (auto failure = try_to_open(path))
    return failure;
  if (SSL_CTX_use_certificate_chain_file(context, path.c_str()) != 1)
    return unusable(path, "no certificate in PEM format that can be used (" + last_reason() + ")");
  return {};
}

error load_authorities(SSL_CTX* context, const tls_options& x) {
  if (!x.ca_file.empty()) {
    if (auto failure = try_to_open(x.ca_file))
      return failure;
    if (SSL_CTX_load_verify_locations(context, x.ca_file.c_str(), nullptr) != 1)
      return unusable(x.ca_file, "no certificates in PEM format (" + last_reason() + ")");
  }
  if (!x.ca_path.empty()) {
    if (auto failure = try_to_open(x.ca_path, true))
      return failure;
    if (SSL_CTX_load_verify_locations(context, nullptr, x.ca_path.c_str()) != 1)
      return unusable(x.ca_path, last_reason());
  }
  return {};
}

error be_anonymous(SSL_CTX* context) {
  SSL_CTX_set_verify(context, SSL_VERIFY_NONE, nullptr);
  if (SSL_CTX_set_cipher_list(context, anonymous_ciphers) != 1 ||
      SSL_CTX_set1_groups_list(context, anonymous_group) != 1)
    return {errc::not_supported, "this OpenSSL has no encryption without certificates (" +
                                     last_reason() + "); use certificates"};
  return {};
}

error use_files(SSL_CTX* context, const tls_options& x) {
  if (SSL_CTX_set_cipher_list(context, authenticated_ciphers) != 1)
    return {errc::not_supported, "this OpenSSL lacks the ciphers needed: " + last_reason()};
  if (!x.certificate.empty()) {
    if (auto failure = load_certificate(context, x.certificate))
      return failure;
    if (auto failure = load_key(context, x))
      return failure;
  }
  return load_authorities(context, x);
}

error be_authenticated(SSL_CTX* context, const tls_options& x) {
  if (auto failure = check_parts(x))
    return failure;
  if (!has_authorities(x))
    return unusable(x.certificate, "without ca_file or ca_path no peer could be accepted");
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
  return use_files(context, x);
}

error be_server(SSL_CTX* context, const tls_options& x) {
  if (auto failure = check_parts(x))
    return failure;
  if (x.certificate.empty())
    return {errc::invalid_argument, "a server that encrypts needs a certificate and its key"};
  SSL_CTX_set_verify(context, has_authorities(x) ? SSL_VERIFY_PEER : SSL_VERIFY_NONE, nullptr);
  return use_files(context, x);
}

/// Throws std::bad_alloc.
tls_context make_context() {
  // Before anything else of OpenSSL: it must not dismantle itself at the end of the program, while
  // links may still be at work.
  OPENSSL_init_ssl(OPENSSL_INIT_NO_ATEXIT, nullptr);
  ERR_clear_error();
  tls_context result{SSL_CTX_new(TLS_method()), &SSL_CTX_free};
  auto* const context = result.get();
  if (context == nullptr)
    throw std::bad_alloc{};
  SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
  // A peering is one handshake and lasts: nothing is to be resumed or negotiated again.
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_options(context, SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
  SSL_CTX_set_num_tickets(context, 0);
  // Several records with one call, and no memory for a link on which nothing happens.
  SSL_CTX_set_read_ahead(context, 1);
  SSL_CTX_set_default_read_buffer_len(context, read_buffer_bytes);
  SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS);
  return result;
}

} // namespace

bool tls_options::authenticated() const noexcept {
  return *this != tls_options{};
}

expected<void> check(const tls_options& options) {
  const auto made = make_tls_context(options);
  return made ? expected<void>{} : made.error();
}

std::optional<std::chrono::sys_seconds> certificate_expiry(const tls_context& context) {
  const auto* const certificate = SSL_CTX_get0_certificate(context.get());
  std::tm at{};
  if (certificate == nullptr || ASN1_TIME_to_tm(X509_get0_notAfter(certificate), &at) != 1)
    return {};
  return std::chrono::sys_seconds{std::chrono::seconds{::timegm(&at)}};
}

expected<tls_context> make_tls_context(const tls_options& options) {
  auto result = make_context();
  auto* const context = result.get();
  if (auto failure =
          options.authenticated() ? be_authenticated(context, options) : be_anonymous(context))
    return failure;
  return result;
}

expected<tls_context> make_tls_server_context(const tls_options& options) {
  auto result = make_context();
  if (auto failure = be_server(result.get(), options))
    return failure;
  return result;
}

} // namespace pubsub
