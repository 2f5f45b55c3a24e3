// SPDX-License-Identifier: BSD-3-Clause
#include "tls_arguments.hpp"

#include <cerrno>
#include <cstring>
#include <fstream>

#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

namespace pubsub::tool {

namespace {

/// The first line, without its end.
std::string read_passphrase(const std::string& path) {
  errno = 0;
  std::ifstream file{path};
  std::string line;
  if (!std::getline(file, line))
    throw CLI::ValidationError("--passphrase-file",
                               path + ": " + (errno != 0 ? std::strerror(errno) : "empty"));
  if (line.ends_with('\r'))
    line.pop_back();
  return line;
}

} // namespace

bool is_encrypted(const std::string& address) {
  return address.starts_with("tls://") || address.starts_with("wss://");
}

void add_tls_options(CLI::App& command, tls_options& options, std::function<bool()> encrypts) {
  const auto add_path = [&](const std::string& name, std::string& into, const std::string& what) {
    command.add_option(name, into, what)->type_name("PATH");
  };
  add_path("--certificate", options.certificate,
           "Certificate for tls:// addresses, with those up to its authority; PEM");
  add_path("--key", options.key, "Private key of the certificate; PEM");
  auto* const shown = command
                          .add_option("--passphrase", options.passphrase,
                                      "Passphrase of the key; others on this machine can see it")
                          ->type_name("TEXT");
  command
      .add_option_function<std::string>(
          "--passphrase-file",
          [&options](const std::string& path) { options.passphrase = read_passphrase(path); },
          "File whose first line is the passphrase of the key")
      ->type_name("PATH")
      ->excludes(shown);
  add_path("--ca-file", options.ca_file, "Certificates of the authorities to trust; PEM");
  add_path("--ca-path", options.ca_path,
           "Folder with such certificates, as `openssl rehash` names them");
  command.parse_complete_callback([&options, encrypts = std::move(encrypts)] {
    if (options.authenticated() && !encrypts())
      throw CLI::ValidationError(
          "certificates have no effect: no address begins with tls:// or wss://");
  });
}

} // namespace pubsub::tool
