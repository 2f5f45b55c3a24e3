// Zeek clusters that a command takes part in.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>
#include <string>
#include <vector>

#include <pubsub/endpoint.hpp>
#include <pubsub/error.hpp>
#include <pubsub/gateway.hpp>

namespace pubsub::tool {

/// Those of `pubsub::cluster`. Where this command was built without it, they say what it needs.
std::vector<gateway_scheme> cluster_gateways();

/// That this command was built without libzmq; not defined where it was built with it.
error no_clusters();

/// As `check_uri`, for the addresses of clusters, too.
expected<void> check_peer_address(const std::string& address);

/// What gateways have counted, in sentences for the log.
class gateway_log {
public:
  /// What did not get through since the call before, and why: a sentence for each gateway where
  /// that happened.
  std::vector<std::string> losses(const std::vector<gateway_info>& now);
  /// All that was counted, a sentence for each gateway.
  static std::vector<std::string> totals(const std::vector<gateway_info>& now);

private:
  std::map<std::string, std::vector<gateway_counter>> before_;
};

} // namespace pubsub::tool
