#include "status_view.hpp"

#ifdef PUBSUB_HAS_JSON

#include <algorithm>
#include <cstdint>

#include <fmt/format.h>
#include <simdjson.h>

namespace pubsub::tool {

namespace {

using simdjson::dom::array;
using simdjson::dom::element;
using simdjson::dom::object;

std::string_view text_of(element x, std::string_view name) {
  std::string_view result;
  return x[name].get_string().get(result) == simdjson::SUCCESS ? result : "?";
}

std::uint64_t number_of(element x, std::string_view name) {
  std::uint64_t result = 0;
  return x[name].get_uint64().get(result) == simdjson::SUCCESS ? result : 0;
}

array list_of(element x, std::string_view name) {
  return x[name].get_array().value(); // throws where there is none
}

std::string duration_text(double seconds) {
  const auto whole = static_cast<std::uint64_t>(std::max(seconds, 0.0));
  if (whole < 60)
    return fmt::format("{:.1f} s", seconds);
  if (whole < 3600)
    return fmt::format("{} min {} s", whole / 60, whole % 60);
  if (whole < 48 * 3600)
    return fmt::format("{} h {} min", whole / 3600, whole / 60 % 60);
  return fmt::format("{} days {} h", whole / 86400, whole / 3600 % 24);
}

/// `a, b and 3 more`.
std::string topics_text(element x) {
  std::string result;
  std::uint64_t shown = 0;
  for (element each : list_of(x, "topics")) {
    const auto topic = each.get_string().value();
    result += (shown++ == 0 ? "" : ", ") + (topic.empty() ? "everything" : std::string{topic});
  }
  const auto all = number_of(x, "topics_total");
  if (all == 0)
    return "nothing";
  return all > shown ? result + fmt::format(" and {} more", all - shown) : result;
}

/// One look at a node, written line by line.
class page {
public:
  using numbers = std::map<std::string, double, std::less<>>;

  page(const numbers& before, double seconds) : before_(before), seconds_(seconds) {}

  void show(element node, std::string_view asker) {
    line("{}{}: version {}, up {}", name_of(node), text_of(node, "id"), text_of(node, "version"),
         duration_text(node["uptime_s"].get_double().value()));
    counters("", node["counters"].get_object().value());
    for (element each : list_of(node, "peers"))
      if (text_of(each, "id") != asker)
        show_peer(each);
    std::size_t number = 0;
    for (element each : list_of(node, "subscribers"))
      show_subscriber(each, ++number);
    left_out(node["left_out"].value());
  }

  std::string text;
  numbers now;

private:
  template <class... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    text += fmt::format(format, std::forward<Args>(args)...) + "\n";
  }

  /// With a space behind it; empty where none is told, as by a node of an earlier version.
  static std::string name_of(element x) {
    std::string_view name;
    return x["name"].get(name) == simdjson::SUCCESS && !name.empty() ? std::string{name} + " " : "";
  }

  void show_peer(element x) {
    const auto version = number_of(x, "wire_version");
    std::string_view rule; // none with a node of an earlier version, or where none holds
    const bool ruled = x["access"].get(rule) == simdjson::SUCCESS;
    bool client = false; // nor does such a node tell that
    client = x["client"].get(client) == simdjson::SUCCESS && client;
    line("peer {}{} {}: {}{}{}{}, wants {}", name_of(x), text_of(x, "address"), text_of(x, "id"),
         text_of(x, "state"), version > 0 ? fmt::format(", version {}", version) : "",
         client ? ", a client" : "", ruled ? fmt::format(", access rule {}", rule) : "",
         topics_text(x));
    show_held(x);
    counters(fmt::format("{} {} ", text_of(x, "address"), text_of(x, "id")),
             x["counters"].get_object().value());
  }

  /// What the node holds because of a peer. A node of an earlier version does not tell.
  void show_held(element x) {
    object all;
    if (x["held_bytes"].get(all) != simdjson::SUCCESS)
      return;
    std::string shown;
    for (auto [kind, value] : all)
      if (const auto n = value.get_uint64().value(); n > 0)
        shown += fmt::format("{}{} bytes of {}", shown.empty() ? "" : ", ", n, kind);
    if (!shown.empty())
      line("  holds {}", shown);
  }

  void show_subscriber(element x, std::size_t number) {
    line("subscriber {}: wants {}, {}, holds {} messages, {} bytes", number, topics_text(x),
         text_of(x, "policy"), number_of(x, "capacity_messages"), number_of(x, "capacity_bytes"));
    counters(fmt::format("subscriber {} ", number), x["counters"].get_object().value());
  }

  /// Those that are not 0, whatever their names.
  void counters(const std::string& where, object all) {
    std::string shown;
    for (auto [key, value] : all) {
      const auto n = value.get_uint64().value();
      const auto place = where + std::string{key};
      now[place] = static_cast<double>(n);
      if (n == 0)
        continue;
      std::string name{key};
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

  void left_out(element x) {
    const auto peers = number_of(x, "peers");
    const auto subscribers = number_of(x, "subscribers");
    if (peers + subscribers > 0)
      line("not shown: {} peers, {} subscribers", peers, subscribers);
  }

  const numbers& before_;
  const double seconds_;
};

} // namespace

expected<std::string> status_view::show(const std::string& json,
                                        std::chrono::steady_clock::time_point now) {
  const auto seconds = before_.empty() ? 0 : std::chrono::duration<double>(now - then_).count();
  page fresh{before_, seconds};
  try {
    simdjson::dom::parser parser;
    fresh.show(parser.parse(json), asker_);
  } catch (const simdjson::simdjson_error& problem) {
    return error{errc::invalid_data, fmt::format("not the status of a node: {}", problem.what())};
  }
  before_ = std::move(fresh.now);
  then_ = now;
  return std::move(fresh.text);
}

} // namespace pubsub::tool

#else

namespace pubsub::tool {

expected<std::string> status_view::show(const std::string&, std::chrono::steady_clock::time_point) {
  return error{errc::not_supported, "this build cannot read JSON: use --json"};
}

} // namespace pubsub::tool

#endif
