// The tables [[rule]] of a TOML file.
// SPDX-License-Identifier: BSD-3-Clause
#include "rules/rule.hpp"

#include <fmt/format.h>

#ifdef PUBSUB_HAS_TOML
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <set>

#define TOML_EXCEPTIONS 0
#define TOML_HEADER_ONLY 1
#include <toml++/toml.h>
#endif

namespace pubsub::tool {

#ifdef PUBSUB_HAS_TOML
namespace {

constexpr std::size_t most_rules = 256;

/// Takes the value over; empty, or what is expected in its place.
std::string take(const toml::node& value, std::string& to) {
  const auto text = value.value_exact<std::string>();
  if (!text)
    return "a string is expected";
  to = *text;
  return {};
}
std::string take(const toml::node& value, std::optional<std::string>& to) {
  return take(value, to.emplace());
}
/// A string stands for a list of one.
std::string take(const toml::node& value, std::vector<std::string>& to) {
  const auto* const list = value.as_array();
  if (list == nullptr)
    return take(value, to.emplace_back());
  for (const auto& each : *list)
    if (!take(each, to.emplace_back()).empty())
      return "a list of strings is expected";
  return list->empty() ? "a list with one string at least is expected" : "";
}
std::string take(const toml::node& value, bool& to) {
  const auto on = value.value_exact<bool>();
  to = on.value_or(false);
  return to ? "" : "true is expected";
}
std::string take(const toml::node& value, std::optional<std::uint64_t>& to) {
  const auto number = value.value_exact<std::int64_t>();
  if (!number || *number < 0)
    return "a whole number is expected";
  to = static_cast<std::uint64_t>(*number);
  return {};
}
std::string take(const toml::node& value, std::optional<double>& to) {
  to = value.value<double>();
  return to && (value.is_integer() || value.is_floating_point()) ? "" : "a number is expected";
}

std::string take_key(std::string_view key, const toml::node& value, rule_text& to) {
  if (key == "name")
    return take(value, to.name);
  if (key == "topics")
    return take(value, to.topics);
  if (key == "match")
    return take(value, to.match);
  if (key == "columns")
    return take(value, to.columns);
  if (key == "publish")
    return take(value, to.publish);
  if (key == "drop")
    return take(value, to.drop);
  if (key == "sample")
    return take(value, to.sample);
  if (key == "rate_limit" || key == "rate-limit")
    return take(value, to.rate_limit);
  if (key == "mask")
    return take(value, to.mask);
  if (key == "by")
    return take(value, to.by);
  return "a rule has no such key; it has name, topics, match, columns, by, and one of publish, "
         "drop, sample, rate_limit and mask";
}

class rules_reader {
public:
  explicit rules_reader(std::string path) : path_(std::move(path)) {}

  expected<std::vector<rule>> read(const toml::table& document) {
    const auto* const found = document.get("rule");
    if (found == nullptr)
      return std::vector<rule>{};
    const auto* const list = found->as_array();
    if (list == nullptr || list->empty() || !list->is_array_of_tables())
      return at(found->source(), "rules are tables [[rule]]", errc::invalid_argument);
    if (list->size() > most_rules)
      return at(found->source(), fmt::format("there are more than {} rules", most_rules),
                errc::limit_exceeded);
    std::vector<rule> result;
    for (const auto& each : *list) {
      auto fresh = read_rule(*each.as_table());
      if (!fresh)
        return fresh.error();
      result.push_back(std::move(*fresh));
    }
    return result;
  }
  error at(const toml::source_region& where, const std::string& what, errc code) const {
    return {code, fmt::format("{}:{}: {}", path_, where.begin.line, what)};
  }

private:
  expected<rule> read_rule(const toml::table& from) {
    rule_text text;
    for (const auto& [key, value] : from)
      if (const auto fault = take_key(key.str(), value, text); !fault.empty())
        return at(value.source(), fmt::format("rule '{}': {}: {}", name_of(from), key.str(), fault),
                  errc::invalid_argument);
    auto made = make_rule(std::move(text));
    if (!made)
      return at(place_of(made.error().context(), from),
                fmt::format("rule '{}': {}", name_of(from), made.error().context()),
                made.error().code());
    if (!names_.insert(made->text.name).second)
      return at(from.source(), fmt::format("rule '{}': another rule has this name", name_of(from)),
                errc::invalid_argument);
    return made;
  }
  /// What is wrong with one key begins with its name.
  static toml::source_region place_of(std::string_view fault, const toml::table& from) {
    const auto* const value = from.get(fault.substr(0, fault.find(':')));
    return value != nullptr ? value->source() : from.source();
  }
  static std::string name_of(const toml::table& from) {
    return from["name"].value_or(std::string{"without a name"});
  }

  const std::string path_;
  std::set<std::string> names_;
};

} // namespace

expected<std::vector<rule>> read_rules(const std::string& path) {
  errno = 0;
  std::ifstream file{path};
  const std::string text{std::istreambuf_iterator<char>{file}, {}};
  if (!file)
    return error{errc::cannot_open_file,
                 path + ": " + (errno != 0 ? std::strerror(errno) : "cannot be read")};
  rules_reader in{path};
  const auto document = toml::parse(text);
  if (!document)
    return in.at(document.error().source(), std::string{document.error().description()},
                 errc::invalid_argument);
  return in.read(document.table());
}
#else
expected<std::vector<rule>> read_rules(const std::string&) {
  return error{errc::not_supported, "this build reads no TOML: toml++ was not found"};
}
#endif

} // namespace pubsub::tool
