// SPDX-License-Identifier: BSD-3-Clause
#include "cluster/topic_names.hpp"

namespace pubsub::cluster {

namespace {

/// How one side separates the parts of its topics, and what those of nodes begin with there.
struct side {
  char separator;
  std::string_view of_nodes;
};

constexpr side in_cluster{'.', "zeek.cluster."};
constexpr side outside{'/', "zeek/cluster/"};

/// Topics of nodes are KIND, as `worker`, or KIND, separator, name, separator, as in `node/a.b/`.
std::string renamed(std::string_view topic, const side& from, const side& to) {
  if (!topic.starts_with(from.of_nodes))
    return std::string{topic};
  auto result = std::string{to.of_nodes}.append(topic.substr(from.of_nodes.size()));
  if (const auto first = result.find(from.separator, to.of_nodes.size());
      first != std::string::npos)
    result[first] = to.separator;
  if (result.ends_with(from.separator))
    result.back() = to.separator;
  return result;
}

std::vector<std::string> prefixes(std::string_view prefix, const side& from, const side& to) {
  if (prefix.starts_with(from.of_nodes))
    return {renamed(prefix, from, to)};
  std::vector<std::string> result{std::string{prefix}};
  if (!prefix.empty() && from.of_nodes.starts_with(prefix))
    result.emplace_back(to.of_nodes);
  return result;
}

} // namespace

std::string to_outside(std::string_view topic, topic_names how) {
  return how == topic_names::mapped ? renamed(topic, in_cluster, outside) : std::string{topic};
}

std::string to_cluster(std::string_view topic, topic_names how) {
  return how == topic_names::mapped ? renamed(topic, outside, in_cluster) : std::string{topic};
}

std::vector<std::string> prefixes_in_cluster(std::string_view prefix, topic_names how) {
  if (how == topic_names::as_they_are)
    return {std::string{prefix}};
  return prefixes(prefix, outside, in_cluster);
}

std::vector<std::string> prefixes_outside(std::string_view prefix, topic_names how) {
  if (how == topic_names::as_they_are)
    return {std::string{prefix}};
  return prefixes(prefix, in_cluster, outside);
}

} // namespace pubsub::cluster
