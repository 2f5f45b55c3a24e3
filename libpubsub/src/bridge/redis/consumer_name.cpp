// SPDX-License-Identifier: BSD-3-Clause
#include "bridge/redis/consumer_name.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include <sys/socket.h>
#include <sys/un.h>

#include "base/entropy.hpp"

namespace pubsub::bridge {

namespace {

constexpr int most_readers = 1000;

/// FNV-1a: the same in every process, for an address is short.
std::uint64_t hash_of(std::string_view text) {
  std::uint64_t result = 14695981039346656037U;
  for (const char c : text)
    result = (result ^ static_cast<unsigned char>(c)) * 1099511628211U;
  return result;
}

std::string host_name() {
  char name[256] = {};
  if (::gethostname(name, sizeof name - 1) != 0 || name[0] == '\0')
    return "pubsub";
  return name;
}

/// Invalid if another socket has the address.
unique_fd claim(const std::string& name) {
  unique_fd result{::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  // After a zero: an address that is not a file.
  const auto length = std::min(name.size(), sizeof address.sun_path - 1);
  std::memcpy(address.sun_path + 1, name.data(), length);
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + length);
  if (!result.valid() ||
      ::bind(result.get(), reinterpret_cast<const sockaddr*>(&address), size) != 0)
    return unique_fd{};
  return result;
}

} // namespace

consumer_name::consumer_name(std::string_view scope) {
  const auto prefix = "pubsub-redis-" + std::to_string(hash_of(scope)) + "-";
  for (int i = 0; i < most_readers; ++i) {
    claim_ = claim(prefix + std::to_string(i));
    if (claim_.valid()) {
      text_ = host_name() + "-" + std::to_string(i);
      return;
    }
  }
  text_ = host_name() + "-" + std::to_string(random_number()); // at least no one else's
}

} // namespace pubsub::bridge
