// Authorities, certificates and keys for one test, made when it runs: nothing secret lies in the
// tree, and nothing expires there.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>

#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <pubsub/tls_options.hpp>

#include "support/temporary_folder.hpp"

namespace pubsub::test {

/// Signs certificates, and writes what it makes as PEM files.
class authority {
public:
  explicit authority(const std::string& name) : key_(make_key()) {
    own_ = make_certificate(name, *key_, *key_, nullptr, day, true);
    write(ca_file(), [&](std::FILE* to) { return PEM_write_X509(to, own_.get()); });
    char hash[16];
    std::snprintf(hash, sizeof hash, "%08lx.0", X509_subject_name_hash(own_.get()));
    std::filesystem::create_directory(ca_path());
    std::filesystem::copy_file(ca_file(), ca_path() + "/" + hash);
  }

  std::string ca_file() const { return folder_ / "ca.pem"; }
  /// A folder with the same certificate under the name that OpenSSL looks for.
  std::string ca_path() const { return folder_ / "authorities"; }

  /// A certificate with its key, encrypted if there is a passphrase, and trust in this authority.
  /// Alternative names as OpenSSL writes them, e.g. `DNS:example.org,IP:192.0.2.1`.
  tls_options issue(const std::string& name, const std::string& passphrase = {},
                    long valid_seconds = day, const std::string& alternative_names = {}) {
    const auto key = make_key();
    const auto certificate =
        make_certificate(name, *key, *key_, own_.get(), valid_seconds, false, alternative_names);
    tls_options result{.certificate = folder_ / (name + ".cert.pem"),
                       .key = folder_ / (name + ".key.pem"),
                       .passphrase = passphrase,
                       .ca_file = ca_file(),
                       .ca_path = {}};
    write(result.certificate, [&](std::FILE* to) { return PEM_write_X509(to, certificate.get()); });
    write(result.key, [&](std::FILE* to) {
      return PEM_write_PKCS8PrivateKey(
          to, key.get(), passphrase.empty() ? nullptr : EVP_aes_256_cbc(), passphrase.data(),
          static_cast<int>(passphrase.size()), nullptr, nullptr);
    });
    return result;
  }

  static constexpr long day = 24 * 3600;

private:
  template <class T, void (*Free)(T*)>
  struct deleter {
    void operator()(T* x) const { Free(x); }
  };
  using key_ptr = std::unique_ptr<EVP_PKEY, deleter<EVP_PKEY, EVP_PKEY_free>>;
  using certificate_ptr = std::unique_ptr<X509, deleter<X509, X509_free>>;
  using key_maker = std::unique_ptr<EVP_PKEY_CTX, deleter<EVP_PKEY_CTX, EVP_PKEY_CTX_free>>;

  static void must(bool done) {
    if (!done)
      throw std::runtime_error{"OpenSSL made no certificate"};
  }

  static key_ptr make_key() {
    const key_maker maker{EVP_PKEY_CTX_new_id(EVP_PKEY_EC, nullptr)};
    EVP_PKEY* made = nullptr;
    must(EVP_PKEY_keygen_init(maker.get()) == 1 &&
         EVP_PKEY_CTX_set_ec_paramgen_curve_nid(maker.get(), NID_X9_62_prime256v1) == 1 &&
         EVP_PKEY_keygen(maker.get(), &made) == 1);
    return key_ptr{made};
  }

  /// Signed by itself if there is no issuer. A negative time of validity: it has expired.
  static certificate_ptr make_certificate(const std::string& name, EVP_PKEY& key, EVP_PKEY& signer,
                                          X509* issuer, long valid_seconds, bool signs,
                                          const std::string& alternative_names = {}) {
    certificate_ptr result{X509_new()};
    auto* const x = result.get();
    auto* const subject = X509_get_subject_name(x);
    const auto* text = reinterpret_cast<const unsigned char*>(name.c_str());
    must(X509_set_version(x, 2) == 1 && ASN1_INTEGER_set(X509_get_serialNumber(x), ++serials()) &&
         X509_gmtime_adj(X509_getm_notBefore(x), -2 * day) != nullptr &&
         X509_gmtime_adj(X509_getm_notAfter(x), valid_seconds) != nullptr &&
         X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC, text, -1, -1, 0) == 1 &&
         X509_set_issuer_name(x, issuer ? X509_get_subject_name(issuer) : subject) == 1 &&
         X509_set_pubkey(x, &key) == 1);
    const auto extend = [x](int what, const char* value) {
      auto* const extension = X509V3_EXT_conf_nid(nullptr, nullptr, what, value);
      must(extension != nullptr && X509_add_ext(x, extension, -1) == 1);
      X509_EXTENSION_free(extension);
    };
    extend(NID_basic_constraints, signs ? "critical,CA:TRUE" : "CA:FALSE");
    if (!alternative_names.empty())
      extend(NID_subject_alt_name, alternative_names.c_str());
    must(X509_sign(x, &signer, EVP_sha256()) > 0);
    return result;
  }

  static long& serials() {
    static long last = 0;
    return last;
  }

  template <class Write>
  static void write(const std::string& path, Write contents) {
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file{std::fopen(path.c_str(), "w"),
                                                               &std::fclose};
    must(file && contents(file.get()) == 1);
  }

  temporary_folder folder_;
  key_ptr key_;
  certificate_ptr own_;
};

} // namespace pubsub::test
