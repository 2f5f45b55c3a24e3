// SPDX-License-Identifier: BSD-3-Clause
#include <pubsub/cluster/curve_keys.hpp>

#include "base/unique_fd.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

#include <zmq.h>

namespace pubsub::cluster {

namespace {

constexpr std::size_t key_chars = 40;
constexpr std::string_view no_key = " no CURVE key (40 characters, Z85)";

struct named_key {
  std::string_view name;
  std::string curve_keys::*key;
  bool of_client; ///< a client needs it
  bool of_server;
};

constexpr std::array<named_key, 4> all_keys{
    {{"server_public", &curve_keys::server_public, true, false},
     {"server_secret", &curve_keys::server_secret, false, true},
     {"client_public", &curve_keys::client_public, true, true},
     {"client_secret", &curve_keys::client_secret, true, false}}};

bool is_key(std::string_view text) {
  std::uint8_t raw[32];
  return text.size() == key_chars && zmq_z85_decode(raw, std::string{text}.c_str()) != nullptr;
}

bool needs(curve_role role, const named_key& which) {
  return (role != curve_role::server && which.of_client) ||
         (role != curve_role::client && which.of_server);
}

template <class Read>
expected<curve_keys> read_keys(curve_role role, Read read) {
  curve_keys result;
  for (const auto& each : all_keys)
    if (needs(role, each))
      if (auto done = read(std::string{each.name} + "key", result.*each.key); !done)
        return done.error();
  return result;
}

/// `name` has small letters and underlines.
std::string variable_for(std::string name) {
  std::ranges::transform(name, name.begin(),
                         [](char c) { return c == '_' ? c : static_cast<char>(c - 'a' + 'A'); });
  return "ZEEK_CLUSTER_BACKEND_ZEROMQ_CURVE_" + name;
}

error cannot_write(const std::string& path) {
  return {errc::cannot_open_file, path + ": " + std::strerror(errno)};
}

expected<void> write_key(const std::string& path, const std::string& key) {
  const unique_fd file{
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR)};
  const auto line = key + "\n";
  if (!file.valid() ||
      ::write(file.get(), line.data(), line.size()) != static_cast<ssize_t>(line.size()))
    return cannot_write(path);
  return {};
}

} // namespace

expected<void> check(const curve_keys& keys, curve_role role) {
  if (zmq_has("curve") == 0)
    return error{errc::not_supported, "libzmq was built without CURVE, which encrypts"};
  for (const auto& each : all_keys)
    if (needs(role, each) && !is_key(keys.*each.key))
      return error{errc::invalid_argument,
                   "curve." + std::string{each.name} + " is" + std::string{no_key}};
  return {};
}

expected<curve_keys> read_curve_keys(const std::string& folder, curve_role role) {
  return read_keys(role, [&](const std::string& name, std::string& key) -> expected<void> {
    const auto path = folder + "/" + name;
    std::ifstream file{path};
    if (!file)
      return error{errc::cannot_open_file, path + " cannot be read"};
    file >> key;
    if (!is_key(key))
      return error{errc::invalid_argument, path + " holds" + std::string{no_key}};
    return {};
  });
}

expected<curve_keys> curve_keys_from_environment(curve_role role) {
  return read_keys(role, [](const std::string& name, std::string& key) -> expected<void> {
    const auto variable = variable_for(name);
    const auto* const value = std::getenv(variable.c_str());
    key = value == nullptr ? "" : value;
    if (!is_key(key))
      return error{errc::invalid_argument,
                   variable + " in the environment is" + std::string{no_key}};
    return {};
  });
}

expected<void> make_curve_keys(const std::string& folder) {
  std::array<char, key_chars + 1> server_public{};
  std::array<char, key_chars + 1> server_secret{};
  std::array<char, key_chars + 1> client_public{};
  std::array<char, key_chars + 1> client_secret{};
  if (zmq_curve_keypair(server_public.data(), server_secret.data()) != 0 ||
      zmq_curve_keypair(client_public.data(), client_secret.data()) != 0)
    return error{errc::not_supported, "libzmq was built without CURVE, which encrypts"};
  const curve_keys keys{.server_public = server_public.data(),
                        .client_public = client_public.data(),
                        .client_secret = client_secret.data(),
                        .server_secret = server_secret.data()};
  std::error_code failure;
  if (std::filesystem::create_directories(folder, failure))
    std::filesystem::permissions(folder, std::filesystem::perms::owner_all, failure);
  for (const auto& each : all_keys) // before any is written: all of them are new, or none
    if (const auto path = folder + "/" + std::string{each.name} + "key";
        std::filesystem::exists(path, failure))
      return error{errc::cannot_open_file, path + " is there already, and keys are not replaced"};
  for (const auto& each : all_keys)
    if (auto written = write_key(folder + "/" + std::string{each.name} + "key", keys.*each.key);
        !written)
      return written.error();
  return {};
}

expected<std::vector<std::string>> read_client_keys(const std::string& file) {
  std::ifstream in{file};
  if (!in)
    return error{errc::cannot_open_file, file + " cannot be read"};
  std::vector<std::string> result;
  std::size_t number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    std::istringstream words{line};
    std::string key;
    if (!(words >> key) || key == "#") // which keys may contain, so it has to stand alone
      continue;
    if (!is_key(key))
      return error{errc::invalid_argument,
                   file + ", line " + std::to_string(number) + ": this is" + std::string{no_key}};
    result.push_back(std::move(key));
  }
  return result;
}

} // namespace pubsub::cluster
