// SPDX-License-Identifier: BSD-3-Clause
#include <pubsub/tls_options.hpp>

#include "support/certificates.hpp"
#include "support/hex.hpp"
#include "transport/tls/tls_socket.hpp"

#include <doctest/doctest.h>

#include <fstream>

using namespace pubsub;
using namespace pubsub::test;

namespace {

std::string written(const temporary_folder& where, const std::string& text) {
  const auto path = where / "some.pem";
  std::ofstream{path} << text;
  return path;
}

/// Whether `options` are refused with this code, in a sentence that contains `words`.
void refused(const tls_options& options, errc code, const std::string& words) {
  CAPTURE(words);
  const auto result = check(options);
  REQUIRE_FALSE(result);
  CHECK(result.error() == code);
  INFO(result.error().context());
  CHECK(result.error().context().find(words) != std::string::npos);
}

} // namespace

TEST_CASE("TLS needs nothing, or a certificate with its key and somebody to trust") {
  authority ca{"ours"};
  CHECK(check(tls_options{}));
  CHECK(check(ca.issue("node")));
  CHECK(check(ca.issue("sealed", "open sesame")));
  auto by_path = ca.issue("other");
  by_path.ca_file.clear();
  by_path.ca_path = ca.ca_path();
  CHECK(check(by_path));
  CHECK(check(
      {.certificate = {}, .key = {}, .passphrase = {}, .ca_file = ca.ca_file(), .ca_path = {}}));
}

TEST_CASE("any TLS option asks for certificates") {
  CHECK_FALSE(tls_options{}.authenticated());
  for (auto part : {&tls_options::certificate, &tls_options::key, &tls_options::passphrase,
                    &tls_options::ca_file, &tls_options::ca_path}) {
    tls_options x;
    x.*part = "something";
    CHECK(x.authenticated());
  }
}

TEST_CASE("what cannot be used for TLS is named, with the reason") {
  authority ca{"ours"};
  const auto good = ca.issue("good");
  const temporary_folder folder;
  const auto missing = folder / "missing.pem";
  const auto junk = written(folder, "no PEM\n");
  auto with = [&](std::string tls_options::*part, const std::string& value) {
    auto x = good;
    x.*part = value;
    return x;
  };
  for (auto part :
       {&tls_options::certificate, &tls_options::key, &tls_options::ca_file, &tls_options::ca_path})
    refused(with(part, missing), errc::cannot_open_file, missing + ": No such file or directory");
  for (auto part : {&tls_options::certificate, &tls_options::key, &tls_options::ca_file})
    refused(with(part, junk), errc::invalid_argument, junk + ": no ");
  refused(with(&tls_options::ca_file, ca.ca_path()), errc::cannot_open_file, "Is a directory");
  refused(with(&tls_options::ca_path, ca.ca_file()), errc::cannot_open_file, "not a folder");
  refused(with(&tls_options::key, ca.issue("other").key), errc::invalid_argument,
          "not the key of the certificate " + good.certificate);
  refused(with(&tls_options::key, ""), errc::invalid_argument, "needs its private key");
  refused(with(&tls_options::certificate, ""), errc::invalid_argument, "needs its certificate");
  refused(with(&tls_options::ca_file, ""), errc::invalid_argument, "ca_file or ca_path");
  refused({.certificate = {}, .key = {}, .passphrase = "x", .ca_file = {}, .ca_path = {}},
          errc::invalid_argument, "a passphrase without a private key");
}

TEST_CASE("a wrong passphrase, none, and one that is too long are told apart") {
  authority ca{"ours"};
  auto sealed = ca.issue("sealed", "open sesame");
  sealed.passphrase = "open barley";
  refused(sealed, errc::invalid_argument, sealed.key + ": the passphrase does not open");
  sealed.passphrase.clear();
  refused(sealed, errc::invalid_argument, sealed.key + ": the private key is encrypted");
  sealed.passphrase = std::string(1024, 'x');
  refused(sealed, errc::invalid_argument, "longer than 1023 bytes");
  sealed = ca.issue("long", std::string(1000, 'y'));
  CHECK(check(sealed));
}

TEST_CASE("the beginning of a TLS connection is known for what it is") {
  for (const auto* hex : {"160301", "1603010200", "150303000202", "170304", "140300"})
    CHECK(looks_like_tls(from_hex(hex)));
  for (const auto* hex :
       {"", "16", "1603", "000000", "474554", "160201", "160305", "130301", "180303"})
    CHECK_FALSE(looks_like_tls(from_hex(hex)));
}
