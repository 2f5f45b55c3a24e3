#include "transport/tls/tls_failure.hpp"

#include <cstring>
#include <string>

#include <openssl/err.h>
#include <openssl/ssl.h>

namespace pubsub {

namespace {

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

/// The two sides have nothing in common.
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

} // namespace

error explain_tls_failure(SSL* ssl, const tls_socket& socket, tls_stage stage) {
  const auto code = take_cause();
  const bool shaking = stage == tls_stage::handshake;
  if (socket.beginning_bytes >= 3 && !looks_like_tls(socket.begins_with()))
    return {errc::tls_failed, "the peer does not use TLS, and this side does"};
  if (code != 0 && !socket.ended)
    return explain_reason(ssl, code);
  const std::string how = socket.failure != 0 ? std::strerror(socket.failure) : "";
  if (shaking)
    return {errc::tls_failed, "the peer ended the connection during the TLS handshake" +
                                  (how.empty() ? "" : " (" + how + ")") +
                                  "; does it use TLS, and in the same mode?"};
  return {errc::peer_unavailable, how.empty() ? "the peer closed the connection" : how};
}

} // namespace pubsub
