// What counts of the reports of one node.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <iterator>
#include <memory>
#include <set>
#include <string>
#include <unordered_set>
#include <variant>
#include <vector>

#include <pubsub/value/endpoint_id.hpp>

#include "route/heard_reports.hpp"
#include "route/reports.hpp"

namespace pubsub {

/// The subscriptions of a node have changed.
struct filter_change {
  endpoint_id node;
  std::uint64_t number = 0; ///< of the report
  std::vector<std::string> added;
  std::vector<std::string> removed;
};

/// Links and subscriptions of one node, as far as its reports count, and what neighbours have said
/// of it. Not thread-safe.
struct known_node {
  std::uint64_t incarnation = 0;
  std::uint64_t links_number = 0; // of the last report that counts; 0: none
  bool relays = false;
  std::string name; // as the last whole report of its links says
  std::unordered_set<endpoint_id> links;
  std::uint64_t filter_number = 0; // as links_number
  std::set<std::string> prefixes;
  heard_reports heard;
  endpoint_id told_by;           // the neighbour in whose share the following counts
  std::size_t counted_bytes = 0; // as `bytes` was then

  /// The newest report of that kind that counts.
  report_version counted(const any_report& kind) const noexcept {
    const bool of_links = std::holds_alternative<neighbours_report>(kind);
    return {incarnation, of_links ? links_number : filter_number};
  }
  /// How many links or subscriptions there are with those that the report adds.
  std::size_t items_with(const any_report& report) const noexcept {
    const auto before = [&](std::size_t n) { return header_of(report).whole ? 0 : n; };
    if (const auto* news = std::get_if<neighbours_report>(&report))
      return before(links.size()) + news->added.size();
    return before(prefixes.size()) + std::get<filter_report>(report).added.size();
  }
  /// About, with what routing keeps of it.
  std::size_t bytes() const noexcept {
    constexpr std::size_t bytes_per_link = 64;
    return sizeof(known_node) + name.size() + links.size() * bytes_per_link + prefix_bytes_;
  }

  /// The node has started again: nothing counts of what it was.
  void restart(std::uint64_t as) {
    incarnation = as;
    links_number = filter_number = 0;
    relays = false;
    name.clear();
    links.clear();
    prefixes.clear();
    prefix_bytes_ = 0;
  }
  void apply(const neighbours_report& news) {
    if (news.about.whole)
      links.clear();
    links.insert(news.added.begin(), news.added.end());
    for (const auto& each : news.removed)
      links.erase(each);
    links_number = news.about.number;
    relays = news.relays;
    if (news.about.whole)
      name = news.name;
  }
  /// Returns what that changes.
  filter_change apply(const filter_report& news) {
    filter_change change{news.about.node, news.about.number, {}, {}};
    if (news.about.whole) {
      const std::set<std::string> now{news.added.begin(), news.added.end()};
      std::ranges::set_difference(prefixes, now, std::back_inserter(change.removed));
      std::ranges::set_difference(now, prefixes, std::back_inserter(change.added));
    } else {
      std::ranges::copy_if(news.added, std::back_inserter(change.added),
                           [&](const auto& each) { return !prefixes.contains(each); });
      std::ranges::copy_if(news.removed, std::back_inserter(change.removed),
                           [&](const auto& each) { return prefixes.contains(each); });
    }
    for (const auto& each : change.removed)
      prefix_bytes_ -= prefixes.erase(each) > 0 ? bytes_for(each) : 0;
    for (const auto& each : change.added)
      prefix_bytes_ += prefixes.insert(each).second ? bytes_for(each) : 0;
    filter_number = news.about.number;
    return change;
  }

  shared_report whole_links(const endpoint_id& id) const {
    return std::make_shared<any_report>(neighbours_report{
        {id, incarnation, links_number, true}, relays, {links.begin(), links.end()}, {}, name});
  }
  shared_report whole_filter(const endpoint_id& id) const {
    return std::make_shared<any_report>(filter_report{
        {id, incarnation, filter_number, true}, {prefixes.begin(), prefixes.end()}, {}});
  }

private:
  /// With its place in the index of all subscriptions.
  static std::size_t bytes_for(const std::string& prefix) noexcept {
    return 256 + 2 * prefix.size();
  }

  std::size_t prefix_bytes_ = 0;
};

} // namespace pubsub
