// SPDX-License-Identifier: BSD-3-Clause
#include "endpoint/core.hpp"

#include <algorithm>

#include "format/json_members.hpp"

namespace pubsub {

namespace {

constexpr std::size_t shown_topics = 8;

std::string describe(const node_info& x) {
  std::vector<std::string> neighbours;
  for (const auto& each : x.neighbours)
    neighbours.push_back(json_string(to_string(each)));
  std::vector<std::string> topics;
  for (auto each = x.filter.begin(); each != x.filter.end() && topics.size() < shown_topics; ++each)
    topics.push_back(
        json_string(std::string_view{*each}.substr(0, endpoint_core::shown_topic_bytes)));
  return json_members{}
      .add("id", to_string(x.id))
      .add("name", x.name)
      .add_value("next_hop", x.next_hop.is_nil() ? "null" : json_string(to_string(x.next_hop)))
      .add_value("relays", x.relays ? "true" : "false")
      .add_value("neighbours", json_list(neighbours))
      .add_value("topics", json_list(topics))
      .add("topics_total", x.filter.size())
      .text();
}

} // namespace

std::string endpoint_core::network_text(std::size_t max_bytes) const {
  constexpr std::size_t frame_bytes = 128; // the id, brackets and what was left out
  auto nodes = routes_.nodes();
  // The same order every time: two texts differ only if something has changed.
  std::ranges::sort(nodes, {}, [](const node_info& x) {
    return std::pair{x.next_hop.is_nil(), x.id};
  });
  std::vector<std::string> shown;
  std::size_t bytes = frame_bytes;
  for (const auto& each : nodes) {
    auto text = describe(each);
    bytes += text.size() + 1;
    if (bytes > max_bytes)
      break;
    shown.push_back(std::move(text));
  }
  return json_members{}
      .add("id", pubsub::to_string(id_))
      .add_value("nodes", json_list(shown))
      .add("left_out", nodes.size() - shown.size())
      .text();
}

} // namespace pubsub
