// SPDX-License-Identifier: BSD-3-Clause
#include "zeek/cluster_metrics.hpp"

#include <cstdint>

#include <fmt/format.h>

namespace pubsub::tool {

namespace {

struct family {
  const char* name; ///< of a counter if it ends in _total, else of a gauge
  const char* help;
  std::uint64_t cluster::zeromq_proxy_counters::*value;
};

using proxy = cluster::zeromq_proxy_counters;

constexpr family of_proxy[] = {
    {"messages_total", "Messages passed on to whoever is subscribed.", &proxy::messages},
    {"bytes_total", "Bytes in those.", &proxy::bytes},
    {"foreign_messages_total", "Of those, not four frames, which Zeek does not read.",
     &proxy::foreign},
    {"dropped_messages_total", "Messages that slow readers did not get, as far as that is known.",
     &proxy::dropped},
    {"slow_reader_events_total", "Times that a reader became slow.", &proxy::times_slow},
    {"subscription_changes_total", "Subscriptions and their ends passed on to publishers.",
     &proxy::subscription_changes},
    {"malformed_total", "Messages of readers that are no subscriptions.", &proxy::malformed},
    {"refused_connections_total", "Connections without an admitted key.", &proxy::refused},
    {"publishers", "Connections of publishers.", &proxy::publishers},
    {"readers", "Connections of readers.", &proxy::readers},
    {"slow_readers", "Readers that do not read now.", &proxy::slow_readers},
    {"subscriptions", "Subscriptions of all readers.", &proxy::subscriptions},
};

void begin(std::string& to, std::string_view name, std::string_view help) {
  to += fmt::format("# HELP {} {}\n# TYPE {} {}\n", name, help, name,
                    name.ends_with("_total") ? "counter" : "gauge");
}

} // namespace

std::string metrics_of(const cluster::zeromq_proxy_counters& x) {
  std::string result;
  for (const auto& [name, help, value] : of_proxy) {
    const auto full = fmt::format("pubsub_cluster_proxy_{}", name);
    begin(result, full, help);
    result += fmt::format("{} {}\n", full, x.*value);
  }
  constexpr std::string_view waiting = "pubsub_cluster_proxy_held_up_seconds_total";
  begin(result, waiting, "Time in which messages waited for room at a reader.");
  return result + fmt::format("{} {}\n", waiting, std::chrono::duration<double>{x.held_up}.count());
}

} // namespace pubsub::tool
