// SPDX-License-Identifier: BSD-3-Clause
#include "status_view.hpp"

#include <algorithm>
#include <cstdint>

#include <fmt/format.h>

#include "status_reader.hpp"
#include "terminal.hpp"

namespace pubsub::tool {

namespace {

std::string known(const std::string& text) {
  return text.empty() ? "?" : text;
}

/// With a space behind it; empty where the node does not tell.
std::string name_before(const std::string& name) {
  return name.empty() ? "" : name + " ";
}

/// One look at a node, written line by line.
class page {
public:
  using numbers = std::map<std::string, double, std::less<>>;

  page(const numbers& before, double seconds) : before_(before), seconds_(seconds) {}

  void show(const node_report& node, std::string_view asker) {
    line("{}{}: version {}, up {}", name_before(node.name), node.id, known(node.version),
         duration_text(node.uptime_s));
    counters("", node.counters);
    for (const auto& each : node.peers)
      if (each.id != asker)
        show_peer(each);
    std::size_t number = 0;
    for (const auto& each : node.subscribers)
      show_subscriber(each, ++number);
    if (node.peers_left_out + node.subscribers_left_out > 0)
      line("not shown: {} peers, {} subscribers", node.peers_left_out, node.subscribers_left_out);
  }

  std::string text;
  numbers now;

private:
  template <class... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    text += fmt::format(format, std::forward<Args>(args)...) + "\n";
  }

  void show_peer(const peer_report& x) {
    line("peer {}{} {}: {}{}{}{}, wants {}", name_before(x.name), known(x.address), known(x.id),
         known(x.state), x.wire_version > 0 ? fmt::format(", version {}", x.wire_version) : "",
         x.client ? ", a client" : "",
         x.access.empty() ? "" : fmt::format(", access rule {}", x.access), topics_text(x.topics));
    show_held(x);
    counters(fmt::format("{} {} ", known(x.address), known(x.id)), x.counters);
  }

  /// What the node holds because of a peer.
  void show_held(const peer_report& x) {
    std::string shown;
    for (const auto& [name, n] : x.held_bytes) {
      auto kind = name;
      std::ranges::replace(kind, '_', ' ');
      if (n > 0)
        shown += fmt::format("{}{} bytes of {}", shown.empty() ? "" : ", ", n, kind);
    }
    if (!shown.empty())
      line("  holds {}", shown);
  }

  void show_subscriber(const subscriber_report& x, std::size_t number) {
    line("subscriber {}: wants {}{}, {}, holds {} messages, {} bytes", number,
         topics_text(x.topics), x.where.empty() ? "" : " where " + x.where, known(x.policy),
         x.capacity_messages, x.capacity_bytes);
    counters(fmt::format("subscriber {} ", number), x.counters);
  }

  /// Those that are not 0, whatever their names.
  void counters(const std::string& where, const counter_set& all) {
    std::string shown;
    for (const auto& [key, n] : all) {
      const auto place = where + key;
      now[place] = static_cast<double>(n);
      if (n == 0)
        continue;
      auto name = key;
      std::ranges::replace(name, '_', ' ');
      shown += fmt::format("{}{} {}{}", shown.empty() ? "" : ", ", name, n,
                           rate(place, static_cast<double>(n)));
    }
    line("  {}", shown.empty() ? "nothing counted yet" : shown);
  }

  std::string rate(const std::string& place, double n) const {
    const auto found = before_.find(place);
    if (found == before_.end() || seconds_ <= 0)
      return "";
    return fmt::format(" ({:+.0f}/s)", (n - found->second) / seconds_);
  }

  const numbers& before_;
  const double seconds_;
};

} // namespace

expected<std::string> status_view::show(const std::string& json,
                                        std::chrono::steady_clock::time_point now) {
  const auto node = read_status(json);
  if (!node)
    return node.error();
  const auto seconds = before_.empty() ? 0 : std::chrono::duration<double>(now - then_).count();
  page fresh{before_, seconds};
  fresh.show(*node, asker_);
  before_ = std::move(fresh.now);
  then_ = now;
  return std::move(fresh.text);
}

} // namespace pubsub::tool
