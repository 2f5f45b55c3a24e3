// SPDX-License-Identifier: BSD-3-Clause
#include "clusters.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#ifdef PUBSUB_HAS_CLUSTER
#include <pubsub/cluster/gateways.hpp>
#endif

namespace pubsub::tool {

namespace {

std::string words(std::string_view name) {
  std::string result{name};
  std::ranges::replace(result, '_', ' ');
  return result;
}

std::uint64_t count_of(const std::vector<gateway_counter>& all, std::string_view name) {
  const auto found = std::ranges::find(all, name, &gateway_counter::name);
  return found == all.end() ? 0 : found->count;
}

void add(std::string& to, std::uint64_t n, std::string_view name) {
  to += fmt::format("{}{} {}", to.empty() ? "" : ", ", n, words(name));
}

} // namespace

#ifdef PUBSUB_HAS_CLUSTER

std::vector<gateway_scheme> cluster_gateways() {
  return cluster::gateways();
}

#else

error no_clusters() {
  return {errc::not_supported, "a Zeek cluster needs a pubsub that was built with libzmq and "
                               "cppzmq (Debian: libzmq3-dev cppzmq-dev)"};
}

std::vector<gateway_scheme> cluster_gateways() {
  std::vector<gateway_scheme> result;
  for (const auto* name : {"zeek+zmq", "ws", "wss"})
    result.push_back({.name = name,
                      .check = [](std::string_view) -> expected<void> { return no_clusters(); },
                      .open = [](const endpoint&, gateway_host, const peer_options&)
                          -> expected<std::unique_ptr<gateway>> { return no_clusters(); }});
  return result;
}

#endif

expected<void> check_peer_address(const std::string& address) {
  for (const auto& each : cluster_gateways())
    if (address.starts_with(each.name + "://"))
      return each.check(address);
  return check_uri(address);
}

std::vector<std::string> gateway_log::losses(const std::vector<gateway_info>& now) {
  std::vector<std::string> result;
  for (const auto& each : now) {
    const auto before = std::exchange(before_[each.uri], each.counters);
    std::string text;
    for (const auto& counter : each.counters)
      if (const auto known = count_of(before, counter.name); counter.lost && counter.count > known)
        add(text, counter.count - known, counter.name);
    if (!text.empty())
      result.push_back(each.uri + ": dropped messages: " + text);
  }
  return result;
}

std::vector<std::string> gateway_log::totals(const std::vector<gateway_info>& now) {
  std::vector<std::string> result;
  for (const auto& each : now) {
    std::string text;
    for (const auto& counter : each.counters)
      if (counter.count > 0)
        add(text, counter.count, counter.name);
    result.push_back(each.uri + ": " + (text.empty() ? "nothing" : text));
  }
  return result;
}

} // namespace pubsub::tool
