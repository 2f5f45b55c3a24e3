// SPDX-License-Identifier: BSD-3-Clause
#include "status_reader.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "terminal.hpp"
#ifdef PUBSUB_HAS_JSON
#include <simdjson.h>
#endif

namespace pubsub::tool {

std::uint64_t& counter_set::at(const std::string& name) {
  const auto found = std::ranges::find(all_, name, [](const auto& each) { return each.first; });
  return found != all_.end() ? found->second : all_.emplace_back(name, 0).second;
}

counter_set& counter_set::operator+=(const counter_set& other) {
  for (const auto& [name, value] : other)
    at(name) += value;
  return *this;
}

counter_set& counter_set::operator-=(const counter_set& other) {
  for (const auto& [name, value] : other)
    at(name) -= std::min(at(name), value);
  return *this;
}

std::string topics_text(const topics_report& topics) {
  if (topics.total == 0)
    return "nothing";
  std::string result;
  for (const auto& each : topics.first)
    result += (result.empty() ? "" : ", ") + (each.empty() ? "everything" : printable(each));
  const auto more = topics.total - std::min<std::uint64_t>(topics.total, topics.first.size());
  return more > 0 ? result + fmt::format(" and {} more", more) : result;
}

#ifdef PUBSUB_HAS_JSON

namespace {

using simdjson::dom::element;

// Members that an earlier version does not have are empty, 0 or false; those that every version has
// are looked for with exceptions, which make the whole text no status.

std::string text_member(element x, std::string_view name) {
  std::string_view result;
  return x[name].get_string().get(result) == simdjson::SUCCESS ? std::string{result} : "";
}

std::optional<std::uint64_t> optional_member(element x, std::string_view name) {
  std::uint64_t result = 0;
  return x[name].get_uint64().get(result) == simdjson::SUCCESS ? std::optional{result}
                                                               : std::nullopt;
}

std::uint64_t number_member(element x, std::string_view name) {
  return optional_member(x, name).value_or(0);
}

bool truth_member(element x, std::string_view name) {
  bool result = false;
  return x[name].get_bool().get(result) == simdjson::SUCCESS && result;
}

simdjson::dom::array list_member(element x, std::string_view name) {
  return x[name].get_array().value(); // throws where there is none
}

counter_set read_counters(simdjson::simdjson_result<element> x) {
  counter_set result;
  simdjson::dom::object all;
  if (x.get(all) == simdjson::SUCCESS)
    for (auto [name, value] : all)
      result.add(name, value.get_uint64().value());
  return result;
}

topics_report read_topics(element x) {
  topics_report result;
  for (element each : list_member(x, "topics"))
    result.first.emplace_back(each.get_string().value());
  result.total = number_member(x, "topics_total");
  return result;
}

peer_report read_peer(element x) {
  return {.id = text_member(x, "id"),
          .name = text_member(x, "name"),
          .address = text_member(x, "address"),
          .state = text_member(x, "state"),
          .access = text_member(x, "access"),
          .wire_version = number_member(x, "wire_version"),
          .client = truth_member(x, "client"),
          .capacity_messages = number_member(x, "capacity_messages"),
          .capacity_bytes = number_member(x, "capacity_bytes"),
          .round_trip_us = optional_member(x, "round_trip_us"),
          .held_bytes = read_counters(x["held_bytes"]),
          .topics = read_topics(x),
          .counters = read_counters(x["counters"])};
}

subscriber_report read_subscriber(element x) {
  return {.topics = read_topics(x),
          .where = text_member(x, "where"),
          .policy = text_member(x, "policy"),
          .capacity_messages = number_member(x, "capacity_messages"),
          .capacity_bytes = number_member(x, "capacity_bytes"),
          .counters = read_counters(x["counters"])};
}

node_report read_node(element x) {
  node_report result;
  result.id = x["id"].get_string().value();
  result.name = text_member(x, "name");
  result.version = text_member(x, "version");
  result.uptime_s = x["uptime_s"].get_double().value();
  result.counters = read_counters(x["counters"]);
  result.all_links = read_counters(x["all_links"]);
  result.all_subscribers = read_counters(x["all_subscribers"]);
  for (element each : list_member(x, "peers"))
    result.peers.push_back(read_peer(each));
  for (element each : list_member(x, "subscribers"))
    result.subscribers.push_back(read_subscriber(each));
  const auto left_out = read_counters(x["left_out"]);
  result.peers_left_out = left_out["peers"];
  result.subscribers_left_out = left_out["subscribers"];
  return result;
}

network_report read_nodes(element x) {
  network_report result;
  for (element each : list_member(x, "nodes")) {
    std::string id{each["id"].get_string().value()};
    result.nodes.push_back({.id = std::move(id),
                            .name = text_member(each, "name"),
                            .reachable = !text_member(each, "next_hop").empty(),
                            .relays = truth_member(each, "relays")});
  }
  result.left_out = number_member(x, "left_out");
  return result;
}

template <class Result>
expected<Result> read_json(const std::string& json, Result (*read)(element),
                           std::string_view what) {
  try {
    simdjson::dom::parser parser;
    return read(parser.parse(json));
  } catch (const simdjson::simdjson_error& problem) {
    return error{errc::invalid_data, fmt::format("{}: {}", what, problem.what())};
  }
}

} // namespace

expected<node_report> read_status(const std::string& json) {
  return read_json(json, read_node, "not the status of a node");
}

expected<network_report> read_network(const std::string& json) {
  return read_json(json, read_nodes, "not a list of the nodes of a network");
}

#else

expected<node_report> read_status(const std::string&) {
  return error{errc::not_supported, "this build cannot read JSON: use --json"};
}

expected<network_report> read_network(const std::string&) {
  return error{errc::not_supported, "this build cannot read JSON"};
}

#endif

} // namespace pubsub::tool
