// SPDX-License-Identifier: BSD-3-Clause
#include "cluster/websocket/client_node.hpp"

#include "cluster/websocket/tuning.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

namespace pubsub::cluster {

namespace {

constexpr std::size_t max_client_name_bytes = 64;

endpoint_options options_of(const client_node_options& how) {
  endpoint_options result;
  result.name = how.name;
  result.forwarding = forwarding::off;
  result.own_messages = own_messages::ignore;
  result.io_threads = 0;
  // What is full holds the client back: it is not read from.
  result.link_queue = {.policy = overflow_policy::block,
                       .capacity_messages = websocket_tuning::incoming_messages,
                       .capacity_bytes = websocket_tuning::incoming_bytes};
  return result;
}

} // namespace

expected<std::unique_ptr<client_node>> client_node::make(endpoint& peer,
                                                         const client_node_options& how) {
  endpoint node{options_of(how)};
  auto queue = how.queue;
  if (const auto most = how.access ? how.access->limits.queued_bytes : 0; most > 0)
    queue.capacity_bytes = std::min<std::size_t>(queue.capacity_bytes, most);
  auto events = node.make_subscriber(filter{how.prefixes}, queue);
  auto news = node.make_status_subscriber();
  if (const auto listening = node.listen(how.address); !listening)
    return listening.error();
  const peer_options once{.retry = std::nullopt,
                          .timeout = websocket_tuning::peering_timeout,
                          .max_retry = websocket_tuning::peering_timeout,
                          .link_queue = queue,
                          .access = how.access,
                          .alias = how.alias};
  if (const auto asked = peer.peer_async(how.address, once); !asked)
    return asked.error();
  return std::unique_ptr<client_node>{
      new client_node{std::move(node), std::move(events), std::move(news)}};
}

std::string client_node_name(const std::string& application, const std::string& address) {
  constexpr std::string_view signs = "-._:@/";
  const auto usual = application.empty() ? std::string{"websocket"} : application;
  auto name = usual.substr(0, max_client_name_bytes -
                                  std::min(max_client_name_bytes / 2, address.size() + 1)) +
              "@" + address;
  name.resize(std::min(name.size(), max_client_name_bytes));
  std::ranges::replace_if(
      name,
      [&](char c) {
        return !((c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
                 signs.find(c) != signs.npos);
      },
      '_');
  return name;
}

} // namespace pubsub::cluster
