// SPDX-License-Identifier: BSD-3-Clause
#include "transport/tls/tls_socket.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include <arpa/inet.h>
#include <sys/socket.h>

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

namespace pubsub {

namespace {

tls_socket& socket_of(BIO* bio) {
  return *static_cast<tls_socket*>(BIO_get_data(bio));
}

bool would_block() {
  return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
}

int note_failure(tls_socket& x) {
  if (x.failure == 0)
    x.failure = errno;
  return -1;
}

void note_beginning(tls_socket& x, std::span<const std::byte> bytes) {
  const auto n = std::min(bytes.size(), x.beginning.size() - x.beginning_bytes);
  std::copy_n(bytes.begin(), n,
              x.beginning.begin() + static_cast<std::ptrdiff_t>(x.beginning_bytes));
  x.beginning_bytes += n;
}

int read_from(BIO* bio, char* into, int size) {
  auto& x = socket_of(bio);
  BIO_clear_retry_flags(bio);
  const auto n = ::recv(x.fd, into, static_cast<std::size_t>(size), MSG_DONTWAIT);
  if (n < 0) {
    if (!would_block())
      return note_failure(x);
    BIO_set_retry_read(bio);
    return -1;
  }
  x.ended = n == 0;
  note_beginning(x, std::as_bytes(std::span{into, static_cast<std::size_t>(n)}));
  return static_cast<int>(n);
}

int write_to(BIO* bio, const char* from, int size) {
  auto& x = socket_of(bio);
  BIO_clear_retry_flags(bio);
  const auto n = ::send(x.fd, from, static_cast<std::size_t>(size), MSG_DONTWAIT | MSG_NOSIGNAL);
  if (n >= 0)
    return static_cast<int>(n);
  if (!would_block())
    return note_failure(x);
  BIO_set_retry_write(bio);
  return -1;
}

long control(BIO* bio, int what, long /*number*/, void* /*pointer*/) {
  if (what == BIO_CTRL_EOF)
    return socket_of(bio).ended ? 1 : 0;
  return what == BIO_CTRL_FLUSH ? 1 : 0; // nothing is held back
}

BIO_METHOD* make_method() {
  auto* const result = BIO_meth_new(BIO_TYPE_SOURCE_SINK, "pubsub socket");
  if (result == nullptr)
    throw std::bad_alloc{};
  BIO_meth_set_read(result, read_from);
  BIO_meth_set_write(result, write_to);
  BIO_meth_set_ctrl(result, control);
  return result;
}

// -- failures ------------------------------------------------------------------------------------

std::string text_of(unsigned long code) {
  const char* text = ERR_reason_error_string(code);
  return text != nullptr ? text : "no reason given";
}

/// The first failure noted by TLS itself: those of cryptography before it are details, those after
/// it are consequences. Forgets all.
unsigned long take_cause() {
  const auto first = ERR_get_error();
  auto code = first;
  while (code != 0 && ERR_GET_LIB(code) != ERR_LIB_SSL)
    code = ERR_get_error();
  ERR_clear_error();
  return code != 0 ? code : first;
}

/// The peer has said that it does not like our certificate, or that there is none.
bool blames_certificate(int reason) {
  switch (reason) {
  case SSL_R_TLSV1_ALERT_UNKNOWN_CA:
  case SSL_R_TLSV1_ALERT_ACCESS_DENIED:
  case SSL_R_SSLV3_ALERT_NO_CERTIFICATE:
  case SSL_R_SSLV3_ALERT_BAD_CERTIFICATE:
  case SSL_R_SSLV3_ALERT_UNSUPPORTED_CERTIFICATE:
  case SSL_R_SSLV3_ALERT_CERTIFICATE_REVOKED:
  case SSL_R_SSLV3_ALERT_CERTIFICATE_EXPIRED:
  case SSL_R_SSLV3_ALERT_CERTIFICATE_UNKNOWN:
  case SSL_R_TLSV1_ALERT_DECRYPT_ERROR:
    return true;
  default:
    return false;
  }
}

bool blames_mode(int reason) {
  return reason == SSL_R_NO_SHARED_CIPHER || reason == SSL_R_SSLV3_ALERT_HANDSHAKE_FAILURE ||
         reason == SSL_R_NO_SUITABLE_SIGNATURE_ALGORITHM;
}

error explain_reason(SSL* ssl, unsigned long code) {
  const auto reason = ERR_GET_REASON(code);
  if (reason == SSL_R_CERTIFICATE_VERIFY_FAILED)
    return {errc::tls_failed, std::string{"the peer's certificate is not accepted: "} +
                                  X509_verify_cert_error_string(SSL_get_verify_result(ssl))};
  if (reason == SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE)
    return {errc::tls_failed, "the peer has no certificate, and this side asks for one"};
  if (reason == SSL_R_TLSV13_ALERT_CERTIFICATE_REQUIRED)
    return {errc::tls_failed, "the peer asks for a certificate, and this side has none"};
  if (blames_certificate(reason))
    return {errc::tls_failed, "the peer does not accept this side's certificate: " + text_of(code)};
  if (blames_mode(reason))
    return {errc::tls_failed,
            "no TLS both sides accept: either both or neither need certificates (" + text_of(code) +
                ")"};
  return {errc::tls_failed, "TLS failed: " + text_of(code)};
}

std::string subject_of(X509* certificate) {
  const std::unique_ptr<BIO, decltype(&BIO_free)> text{BIO_new(BIO_s_mem()), &BIO_free};
  if (!text)
    throw std::bad_alloc{};
  X509_NAME_print_ex(text.get(), X509_get_subject_name(certificate), 0, XN_FLAG_RFC2253);
  char* begin = nullptr;
  const auto size = BIO_get_mem_data(text.get(), &begin);
  return {begin, static_cast<std::size_t>(size)};
}

/// A name with a zero byte in it is none: it could seem to be another.
void add_name(const ASN1_STRING* text, std::vector<std::string>& to) {
  unsigned char* bytes = nullptr;
  const int size = ASN1_STRING_to_UTF8(&bytes, text);
  if (size < 0)
    return;
  std::string name{reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(size)};
  CRYPTO_free(bytes, "", 0); // OPENSSL_free would put the whole path of this file into the library
  if (!name.empty() && name.find('\0') == std::string::npos)
    to.push_back(std::move(name));
}

void add_common_names(X509* certificate, std::vector<std::string>& to) {
  const auto* const subject = X509_get_subject_name(certificate);
  for (int at = X509_NAME_get_index_by_NID(subject, NID_commonName, -1); at >= 0;
       at = X509_NAME_get_index_by_NID(subject, NID_commonName, at))
    add_name(X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, at)), to);
}

/// Of hosts, addresses, mailboxes and resources.
void add_alternative_names(X509* certificate, std::vector<std::string>& to) {
  const std::unique_ptr<GENERAL_NAMES, decltype(&GENERAL_NAMES_free)> all{
      static_cast<GENERAL_NAMES*>(
          X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr)),
      &GENERAL_NAMES_free};
  for (int i = 0; all && i < sk_GENERAL_NAME_num(all.get()); ++i) {
    const auto* const each = sk_GENERAL_NAME_value(all.get(), i);
    std::array<char, INET6_ADDRSTRLEN> text{};
    if (each->type == GEN_DNS || each->type == GEN_EMAIL || each->type == GEN_URI)
      add_name(each->d.ia5, to);
    else if (each->type == GEN_IPADD && each->d.ip->length == 4)
      to.emplace_back(inet_ntop(AF_INET, each->d.ip->data, text.data(), text.size()));
    else if (each->type == GEN_IPADD && each->d.ip->length == 16)
      to.emplace_back(inet_ntop(AF_INET6, each->d.ip->data, text.data(), text.size()));
  }
}

} // namespace

BIO* make_bio(tls_socket& socket) {
  static auto* const method = make_method(); // never freed: links may outlive the main function
  auto* const result = BIO_new(method);
  if (result == nullptr)
    throw std::bad_alloc{};
  BIO_set_data(result, &socket);
  BIO_set_init(result, 1);
  return result;
}

peer_identity peer_identity_of(const SSL* ssl) {
  const std::unique_ptr<X509, decltype(&X509_free)> certificate{SSL_get1_peer_certificate(ssl),
                                                                &X509_free};
  if (!certificate)
    return {};
  peer_identity result{.subject = subject_of(certificate.get())};
  add_common_names(certificate.get(), result.names);
  add_alternative_names(certificate.get(), result.names);
  return result;
}

error explain_tls_failure(SSL* ssl, const tls_socket& socket, bool established) {
  const auto code = take_cause();
  if (socket.beginning_bytes >= 3 && !looks_like_tls(socket.begins_with()))
    return {errc::tls_failed, "the peer does not use TLS, and this side does"};
  if (code != 0 && !socket.ended)
    return explain_reason(ssl, code);
  const std::string how = socket.failure != 0 ? std::strerror(socket.failure) : "";
  if (!established)
    return {errc::tls_failed, "the peer ended the connection during the TLS handshake" +
                                  (how.empty() ? "" : " (" + how + ")") +
                                  "; does it use TLS, and in the same mode?"};
  return {errc::peer_unavailable, how.empty() ? "the peer closed the connection" : how};
}

} // namespace pubsub
