#include <pubsub/pattern/versioned_options.hpp>

#include <algorithm>
#include <iterator>

namespace pubsub {

std::string_view to_string(versioning x) noexcept {
  switch (x) {
  case versioning::none:
    return "none";
  case versioning::version_request:
    return "version_request";
  case versioning::message_returns_version:
    return "message_returns_version";
  case versioning::one_hop:
    return "one_hop";
  case versioning::one_hop_ack_client:
    return "one_hop_ack_client";
  case versioning::tagged:
    return "tagged";
  }
  return "invalid";
}

expected<versioning> parse_versioning(std::string_view name) {
  const auto* const found =
      std::ranges::find(all_versionings, name, [](auto x) { return to_string(x); });
  if (found != std::end(all_versionings))
    return *found;
  std::string known;
  for (const auto each : all_versionings)
    known += (known.empty() ? "" : ", ") + std::string{to_string(each)};
  return error{errc::invalid_argument,
               "no versioning scheme is called '" + std::string{name} + "'; there are " + known};
}

std::string to_string(const message_version& x) {
  return std::to_string(x.epoch) + "." + std::to_string(x.number);
}

std::string_view to_string(replica_state x) noexcept {
  switch (x) {
  case replica_state::joining:
    return "joining";
  case replica_state::catching_up:
    return "catching_up";
  case replica_state::member:
    return "member";
  case replica_state::closed:
    return "closed";
  }
  return "invalid";
}

} // namespace pubsub
