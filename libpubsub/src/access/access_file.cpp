// SPDX-License-Identifier: BSD-3-Clause
#include <pubsub/access.hpp>

#include <fstream>
#include <iterator>
#include <set>

#ifdef PUBSUB_HAS_TOML
#define TOML_EXCEPTIONS 0
#define TOML_HEADER_ONLY 1
#include <toml++/toml.h>
#endif

namespace pubsub {

#ifdef PUBSUB_HAS_TOML
namespace {

error at(const toml::source_region& where, const std::string& what) {
  return {errc::invalid_argument, "line " + std::to_string(where.begin.line) + ", column " +
                                      std::to_string(where.begin.column) + ": " + what};
}

/// Reads the members of a TOML table. A key that no call has asked for is an error, as is a value
/// of another type; the first error is kept.
class table_reader {
public:
  explicit table_reader(const toml::table& from) : from_(from) {}

  void read(std::string_view key, std::string& to) { read_value<std::string>(key, "a string", to); }
  void read(std::string_view key, bool& to) { read_value<bool>(key, "true or false", to); }
  void read(std::string_view key, std::uint64_t& to) {
    std::int64_t value = 0;
    read_value<std::int64_t>(key, "a whole number", value);
    if (value < 0)
      fail(*from_.get(key), std::string{key} + " is a number from 0 on; 0 means any amount");
    else if (value > 0)
      to = static_cast<std::uint64_t>(value);
  }
  void read(std::string_view key, std::vector<std::string>& to) {
    const auto* const node = find(key);
    if (node == nullptr)
      return;
    const auto* const list = node->as_array();
    if (list == nullptr)
      return fail(*node, std::string{key} + " is a list of strings");
    for (const auto& each : *list)
      if (const auto value = each.value_exact<std::string>())
        to.push_back(*value);
      else
        fail(each, std::string{key} + " is a list of strings");
  }
  void read(std::string_view key, std::optional<filter>& to) {
    if (!from_.contains(key))
      return;
    std::vector<std::string> prefixes;
    read(key, prefixes);
    to = filter{std::move(prefixes)};
  }
  void read_role(bool& relay) {
    std::string role = "client";
    read("role", role);
    if (role != "client" && role != "relay")
      fail(*from_.get("role"), "role is \"relay\" or \"client\", and not \"" + role + "\"");
    relay = role == "relay";
  }
  const toml::table* read_table(std::string_view key) {
    const auto* const node = find(key);
    if (node != nullptr && node->as_table() == nullptr)
      fail(*node, std::string{key} + " is a table");
    return node != nullptr ? node->as_table() : nullptr;
  }
  /// After all that may be there.
  error failure() {
    for (const auto& [key, value] : from_)
      if (!known_.contains(std::string{key.str()}))
        fail(value, "there is no '" + std::string{key.str()} + "' here");
    return failure_;
  }

private:
  template <class T>
  void read_value(std::string_view key, const std::string& kind, T& to) {
    const auto* const node = find(key);
    if (node == nullptr)
      return;
    if (const auto value = node->value_exact<T>())
      to = *value;
    else
      fail(*node, std::string{key} + " is " + kind);
  }
  const toml::node* find(std::string_view key) {
    known_.insert(std::string{key});
    return from_.get(key);
  }
  void fail(const toml::node& where, const std::string& what) {
    if (!failure_)
      failure_ = at(where.source(), what);
  }

  const toml::table& from_;
  std::set<std::string> known_;
  error failure_;
};

expected<access_limits> read_limits(const toml::table& from) {
  access_limits to;
  table_reader in{from};
  in.read("messages_per_second", to.messages_per_second);
  in.read("bytes_per_second", to.bytes_per_second);
  in.read("subscriptions", to.subscriptions);
  in.read("topics", to.topics);
  in.read("queued_bytes", to.queued_bytes);
  in.read("connections", to.connections);
  if (auto failure = in.failure())
    return failure;
  return to;
}

expected<access_rule> read_rule(const toml::table& from) {
  access_rule to;
  table_reader in{from};
  in.read("name", to.name);
  in.read("certificates", to.certificates);
  in.read("users", to.users);
  in.read("tokens", to.tokens);
  in.read("anonymous", to.anonymous);
  in.read_role(to.relay);
  in.read("inspect", to.inspect);
  in.read("publish", to.publish);
  in.read("subscribe", to.subscribe);
  const auto* const limits = in.read_table("limits");
  if (auto failure = in.failure())
    return failure;
  if (limits == nullptr)
    return to;
  auto read = read_limits(*limits);
  if (!read)
    return read.error();
  to.limits = *read;
  return to;
}

} // namespace

expected<access_rules> parse_access_rules(std::string_view toml) {
  const auto document = toml::parse(toml);
  if (!document)
    return at(document.error().source(), std::string{document.error().description()});
  access_rules result;
  for (const auto& [key, value] : document.table()) {
    const auto* const rules = value.as_array();
    if (key.str() != "rule" || rules == nullptr || !rules->is_array_of_tables())
      return at(value.source(), "there are tables [[rule]] here, and nothing else");
    for (const auto& each : *rules) {
      auto rule = read_rule(*each.as_table());
      if (!rule)
        return rule.error();
      result.push_back(std::move(*rule));
    }
  }
  if (auto ok = check(result); !ok)
    return ok.error();
  return result;
}
#else
expected<access_rules> parse_access_rules(std::string_view) {
  return error{errc::not_supported, "this build reads no TOML: toml++ was not found"};
}
#endif

expected<access_rules> read_access_rules(const std::string& path) {
  std::ifstream file{path};
  const std::string text{std::istreambuf_iterator<char>{file}, {}};
  if (!file)
    return error{errc::cannot_open_file, path};
  auto result = parse_access_rules(text);
  if (!result)
    return error{result.error().code(), path + ": " + result.error().context()};
  return result;
}

} // namespace pubsub
