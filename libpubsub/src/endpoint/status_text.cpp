// SPDX-License-Identifier: BSD-3-Clause
#include "endpoint/core.hpp"

#include <algorithm>

#include "endpoint/counter_table.hpp"
#include "format/json_members.hpp"

namespace pubsub {

namespace {

constexpr std::size_t shown_topics = 8;

/// Those that the table lists.
template <class Counters>
json_members members_of(const Counters& x) {
  json_members result;
  for (const auto& each : counter_table<Counters>)
    result.add(each.member, x.*each.value);
  return result;
}

/// The first topics, cut where they are long, and the number of all.
void add_filter(json_members& to, const filter& x) {
  std::vector<std::string> shown;
  for (auto each = x.begin(); each != x.end() && shown.size() < shown_topics; ++each)
    shown.push_back(
        json_string(std::string_view{*each}.substr(0, endpoint_core::shown_topic_bytes)));
  to.add_value("topics", json_list(shown)).add("topics_total", x.size());
}

/// A condition, cut where it is long.
std::string_view shown_text(std::string_view where) {
  return where.substr(0, endpoint_core::shown_topic_bytes);
}

std::string describe(const peer_info& x) {
  json_members result;
  result.add_value("id", x.id.is_nil() ? "null" : json_string(pubsub::to_string(x.id)))
      .add("name", x.name)
      .add_value("address", x.network ? json_string(to_string(*x.network)) : "null")
      .add("state", to_string(x.state))
      .add("wire_version", x.wire_version)
      .add_value("client", x.client ? "true" : "false")
      .add_value("outgoing", x.outgoing ? "true" : "false")
      .add("capacity_messages", x.capacity_messages)
      .add("capacity_bytes", x.capacity_bytes)
      .add_value("round_trip_us", x.round_trip ? std::to_string(x.round_trip->count()) : "null")
      .add("held_bytes", json_members{}
                             .add("topics", x.held.topics)
                             .add("reports", x.held.reports)
                             .add("control", x.held.control)
                             .add("shared_memory", x.held.shared_memory))
      .add_value("access", x.access.empty() ? "null" : json_string(x.access));
  add_filter(result, x.filter);
  return result.add("counters", members_of(x.counters)).text();
}

std::string describe(const subscriber_core& x) {
  json_members result;
  add_filter(result, x.topics());
  return result.add("policy", to_string(x.options().policy))
      .add("capacity_messages", x.options().capacity_messages)
      .add("capacity_bytes", x.options().capacity_bytes)
      .add_value("where", x.where() ? json_string(shown_text(x.where()->text())) : "null")
      .add("counters", members_of(x.counters()))
      .text();
}

/// A list that grows up to a size; what comes then is counted.
class bounded_list {
public:
  explicit bounded_list(std::size_t most_bytes) : left_(most_bytes) {}
  /// False once it is full.
  bool add(std::string value) {
    if (value.size() + 1 > left_)
      return false;
    left_ -= value.size() + 1;
    values_.push_back(std::move(value));
    return true;
  }
  std::string text() const { return json_list(values_); }
  std::size_t size() const noexcept { return values_.size(); }
  std::size_t bytes_left() const noexcept { return left_; }

private:
  std::size_t left_;
  std::vector<std::string> values_;
};

std::string seconds_text(std::chrono::steady_clock::duration time) {
  const auto x = std::chrono::duration_cast<std::chrono::milliseconds>(time);
  const auto fraction = std::to_string(1000 + x.count() % 1000).substr(1);
  return std::to_string(x.count() / 1000) + "." + fraction;
}

} // namespace

std::string endpoint_core::status_text(std::size_t max_bytes) const {
  constexpr std::size_t frame_bytes = 256; // names, brackets and what was left out
  const auto all = counters();
  json_members result;
  result.add("schema", 1U)
      .add("id", pubsub::to_string(id_))
      .add("name", name())
      .add("version", PUBSUB_VERSION)
      .add_value("uptime_s", seconds_text(std::chrono::steady_clock::now() - born_))
      .add("counters", members_of(all).add("refused", all.refused()))
      .add("all_links", members_of(all.links))
      .add("all_subscribers", members_of(all.subscribers));
  const auto used = result.text().size() + frame_bytes;
  const auto room = max_bytes - std::min(max_bytes, used);

  auto all_peers = known_peers();
  std::stable_partition(all_peers.begin(), all_peers.end(),
                        [](const auto& each) { return !each.client; });
  bounded_list peers{room / 2}; // many peers leave room for some subscribers
  for (const auto& each : all_peers)
    if (!peers.add(describe(each)))
      break;
  bounded_list subscribers{room - room / 2 + peers.bytes_left()};
  std::size_t unseen = 0;
  subscribers_.visit([&](const subscriber_core& each) {
    if (unseen > 0 || !subscribers.add(describe(each)))
      ++unseen;
  });
  return result.add_value("peers", peers.text())
      .add_value("subscribers", subscribers.text())
      .add("left_out",
           json_members{}.add("peers", all_peers.size() - peers.size()).add("subscribers", unseen))
      .text();
}

} // namespace pubsub
