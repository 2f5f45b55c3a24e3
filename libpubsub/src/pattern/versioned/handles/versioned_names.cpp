// SPDX-License-Identifier: BSD-3-Clause
#include <pubsub/pattern/versioned_options.hpp>

#include <cstddef>
#include <span>

namespace pubsub {

namespace {

// In the order of the enumerators.
constexpr std::string_view versioning_names[] = {
    "none",    "version_request",    "message_returns_version",
    "one_hop", "one_hop_ack_client", "tagged"};
constexpr std::string_view state_names[] = {"joining", "catching_up", "member", "closed"};

std::string_view name_at(std::size_t place, std::span<const std::string_view> names) noexcept {
  return place < names.size() ? names[place] : "invalid";
}

} // namespace

std::string_view to_string(versioning x) noexcept {
  return name_at(static_cast<std::size_t>(x), versioning_names);
}

std::string_view to_string(replica_state x) noexcept {
  return name_at(static_cast<std::size_t>(x), state_names);
}

expected<versioning> parse_versioning(std::string_view name) {
  std::string known;
  for (const auto each : all_versionings) {
    if (to_string(each) == name)
      return each;
    known.append(known.empty() ? "" : ", ").append(to_string(each));
  }
  return error{errc::invalid_argument,
               "no versioning scheme is called '" + std::string{name} + "'; there are " + known};
}

std::string to_string(const message_version& x) {
  return std::to_string(x.epoch) + "." + std::to_string(x.number);
}

} // namespace pubsub
