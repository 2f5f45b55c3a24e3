// SPDX-License-Identifier: BSD-3-Clause
#include "endpoint/core.hpp"

#include <algorithm>
#include <set>

#include "base/counter_sums.hpp"
#include "endpoint/counter_table.hpp"
#include "endpoint/exposition.hpp"

namespace pubsub {

namespace {

// Each is a series in a monitoring system, for each family: what costs memory there has a bound.
constexpr std::size_t max_single = 1000;
constexpr std::size_t max_single_clients = 100;

/// A link or a subscriber, or several that are shown together.
template <class Counters>
struct row {
  metric_labels labels;
  Counters counters{};
  std::uint64_t capacity_messages = 0;
  std::uint64_t capacity_bytes = 0;
};

struct link_row : row<link_counters> {
  std::uint64_t up = 0;
  held_for_peer held;
};

metric_labels labels_of_link(std::string_view peer, std::string_view address, std::string_view rule,
                             std::string_view name) {
  return std::move(metric_labels{}
                       .add("peer", peer)
                       .add("address", address)
                       .add("rule", rule)
                       .add("name", name));
}

metric_labels labels_of_subscriber(std::string_view number, std::string_view topic) {
  return std::move(metric_labels{}.add("subscriber", number).add("topic", topic));
}

void add_peer(link_row& to, const peer_info& x) {
  add_to(to.counters, x.counters);
  to.capacity_messages += x.capacity_messages;
  to.capacity_bytes += x.capacity_bytes;
  to.up += x.state == peer_state::peered ? 1 : 0;
  add_to(to.held, x.held);
}

/// One for each link; clients together where they are many, and others together beyond the bound,
/// or where their labels are the same.
std::vector<link_row> rows_of(const std::vector<peer_info>& peers) {
  const bool fold_clients = std::ranges::count_if(peers, &peer_info::client) >
                            static_cast<std::ptrdiff_t>(max_single_clients);
  std::vector<link_row> result;
  std::set<metric_labels> seen;
  std::optional<link_row> clients;
  std::optional<link_row> others;
  const auto fold = [](std::optional<link_row>& into, std::string_view name, const peer_info& x) {
    if (!into)
      into.emplace().labels = labels_of_link(name, "", "", "");
    add_peer(*into, x);
  };
  for (const auto& each : peers) {
    if (each.client && fold_clients) {
      fold(clients, "clients", each);
      continue;
    }
    auto labels =
        labels_of_link(each.id.is_nil() ? "" : to_string(each.id),
                       each.network ? to_string(*each.network) : "", each.access, each.name);
    if (result.size() == max_single || !seen.insert(labels).second) {
      fold(others, "other", each);
      continue;
    }
    result.emplace_back().labels = std::move(labels);
    add_peer(result.back(), each);
  }
  for (auto* each : {&clients, &others})
    if (*each)
      result.push_back(std::move(**each));
  return result;
}

using subscriber_row = row<subscriber_counters>;

void add_subscriber(subscriber_row& to, const subscriber_core& x) {
  add_to(to.counters, x.counters());
  to.capacity_messages += x.options().capacity_messages;
  to.capacity_bytes += x.options().capacity_bytes;
}

std::vector<subscriber_row> rows_of(const subscriber_list& subscribers) {
  std::vector<subscriber_row> result;
  std::optional<subscriber_row> others;
  subscribers.visit([&](const subscriber_core& each) {
    if (result.size() == max_single) {
      if (!others)
        others.emplace().labels = labels_of_subscriber("other", "");
      return add_subscriber(*others, each);
    }
    const auto topics = each.topics();
    const auto first =
        topics.begin() == topics.end() ? std::string{} : std::string{*topics.begin()};
    result.emplace_back().labels = labels_of_subscriber(
        std::to_string(each.id()), first.substr(0, endpoint_core::shown_topic_bytes));
    add_subscriber(result.back(), each);
  });
  if (others)
    result.push_back(std::move(*others));
  return result;
}

/// All families of a table; `each_row(visit)` calls `visit(labels, counters)` for what they are of.
template <class Counters>
void add_table(exposition& out, const std::string& prefix, std::string_view more_help,
               auto&& each_row) {
  std::string_view family;
  for (const auto& each : counter_table<Counters>) {
    if (each.family != family)
      out.begin(prefix + std::string{family = each.family},
                std::string{each.help} + std::string{more_help});
    each_row([&](metric_labels labels, const Counters& counters) {
      if (!each.reason.empty())
        labels.add("reason", each.reason);
      out.add(labels, counters.*each.value);
    });
  }
}

template <class Counters>
void add_sums(exposition& out, const std::string& prefix, std::string_view more_help,
              const Counters& sums) {
  add_table<Counters>(out, prefix, more_help, [&](auto&& visit) { visit({}, sums); });
}

void add_rows(exposition& out, const std::string& prefix, const auto& rows) {
  using counters = decltype(rows[0].counters);
  add_table<std::remove_cvref_t<counters>>(out, prefix, "", [&](auto&& visit) {
    for (const auto& each : rows)
      visit(each.labels, each.counters);
  });
  out.begin(prefix + "capacity_messages", "Messages that the queue holds before it is full.");
  for (const auto& each : rows)
    out.add(each.labels, each.capacity_messages);
  out.begin(prefix + "capacity_bytes", "Bytes that the queue holds before it is full.");
  for (const auto& each : rows)
    out.add(each.labels, each.capacity_bytes);
}

void add_links(exposition& out, const std::vector<link_row>& rows) {
  add_rows(out, "pubsub_link_", rows);
  out.begin("pubsub_link_up", "1 while the peer is connected, 0 while this node tries to connect "
                              "to it; of several that are shown as one, how many are connected.");
  for (const auto& each : rows)
    out.add(each.labels, each.up);
  out.begin("pubsub_link_held_bytes", "Memory held because of the peer: topics it has announced, "
                                      "reports of the network, control frames it has not read.");
  for (const auto& each : rows)
    for (const auto& [what, n] : {std::pair{"topics", each.held.topics},
                                  {"reports", each.held.reports},
                                  {"control", each.held.control},
                                  {"shared_memory", each.held.shared_memory}})
      out.add(metric_labels{each.labels}.add("kind", what), n);
}

void add_peers(exposition& out, const std::vector<peer_info>& peers) {
  out.begin("pubsub_peers", "Peers by state: peered, connecting (never reached so far), lost.");
  for (const auto state : {peer_state::peered, peer_state::connecting, peer_state::lost})
    out.add(metric_labels{}.add("state", to_string(state)),
            static_cast<std::size_t>(std::ranges::count(peers, state, &peer_info::state)));
  out.single("pubsub_client_peers", "Of the peers, clients: they pass nothing on.",
             static_cast<std::size_t>(std::ranges::count_if(peers, &peer_info::client)));
}

} // namespace

/// Gateways of different kinds have some counters in common.
static void add_gateway_metrics(exposition& out, const std::vector<gateway_info>& all) {
  std::vector<std::string_view> done;
  for (const auto& [uri, problem, counters] : all)
    for (const auto& first : counters) {
      if (std::ranges::find(done, first.name) != done.end())
        continue;
      done.push_back(first.name);
      out.begin("pubsub_gateway_" + std::string{first.name} + "_total", first.help);
      for (const auto& each : all)
        for (const auto& x : each.counters)
          if (x.name == first.name)
            out.add(metric_labels{}.add("gateway", each.uri), x.count);
    }
}

std::string endpoint_core::metrics_text() const {
  constexpr std::string_view all_links = " The sum over all links, past ones too.";
  constexpr std::string_view all_subscribers = " The sum over all subscribers, past ones too.";
  exposition out;
  out.begin("pubsub_build_info", "1, with the version of libpubsub as a label.");
  out.add(metric_labels{}.add("version", PUBSUB_VERSION), 1U);
  out.begin("pubsub_node_info", "1, with the id and the name of this node as labels.");
  out.add(metric_labels{}.add("id", pubsub::to_string(id_)).add("name", name()), 1U);
  out.single("pubsub_uptime_seconds", "Time since this node was made.",
             std::chrono::duration<double>(std::chrono::steady_clock::now() - born_).count());

  const auto sums = counters();
  add_sums(out, "pubsub_", "", sums);
  add_sums(out, "pubsub_links_", all_links, sums.links);
  add_sums(out, "pubsub_subscribers_", all_subscribers, sums.subscribers);

  const auto nodes = routes_.count_nodes();
  out.single("pubsub_known_nodes", "Other nodes of the network that this one knows of.",
             nodes.known);
  out.single("pubsub_unreachable_nodes", "Of the known nodes, those that no path leads to now.",
             nodes.out_of_reach);
  const auto peers = known_peers();
  add_peers(out, peers);
  add_links(out, rows_of(peers));
  add_rows(out, "pubsub_subscriber_", rows_of(subscribers_));
  if (const auto at = peering_->certificate_expiry())
    out.single("pubsub_certificate_expiry_timestamp_seconds",
               "When the certificate that this node shows expires, in seconds since 1970.",
               static_cast<double>(at->time_since_epoch().count()));
  add_gateway_metrics(out, gateways_.look());
  add_process_metrics(out);
  return std::move(out).text();
}

} // namespace pubsub
