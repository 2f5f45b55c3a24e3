// SPDX-License-Identifier: BSD-3-Clause
#include "access/access.hpp"

#include <algorithm>
#include <set>

namespace pubsub {

namespace {

/// Certificates name hosts without regard to case; other names have it by convention only.
bool is_same(std::string_view x, std::string_view y) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  return std::ranges::equal(x, y, {}, lower, lower);
}

bool fits(std::string_view name, std::string_view pattern) {
  if (pattern == "*")
    return true;
  if (!pattern.starts_with("*."))
    return is_same(name, pattern);
  const auto end = pattern.substr(1);
  return name.size() > end.size() && is_same(name.substr(name.size() - end.size()), end);
}

bool is_for(const access_rule& rule, const peer_identity& who) {
  if (who.anonymous())
    return rule.anonymous;
  const auto is_named = [&](const auto& pattern) {
    return std::ranges::any_of(who.names, [&](const auto& name) { return fits(name, pattern); });
  };
  const auto is_user = [&](const auto& user) {
    return !who.uid.empty() && (user == who.uid || user == who.user);
  };
  return std::ranges::any_of(rule.certificates, is_named) ||
         std::ranges::any_of(rule.users, is_user) ||
         (!who.token.empty() && std::ranges::find(rule.tokens, who.token) != rule.tokens.end());
}

/// Whether some topic begins with the prefix and with one of the filter.
bool overlaps(const filter& allowed, std::string_view prefix) {
  return std::ranges::any_of(allowed, [&](const std::string& each) {
    return prefix.starts_with(each) || each.starts_with(prefix);
  });
}

constexpr std::string_view digest_mark = "sha256:";
constexpr std::size_t digest_digits = 64;

bool is_digest(std::string_view token) {
  return token.starts_with(digest_mark) && token.size() == digest_mark.size() + digest_digits &&
         token.find_first_not_of("0123456789abcdef", digest_mark.size()) == token.npos;
}

} // namespace

expected<void> check(const access_rules& rules) {
  std::set<std::string> names;
  for (const auto& each : rules) {
    if (each.name.empty() || !names.insert(each.name).second)
      return error{errc::invalid_argument,
                   "every access rule has a name of its own; not '" + each.name + "'"};
    if (each.certificates.empty() && each.users.empty() && each.tokens.empty() && !each.anonymous)
      return error{errc::invalid_argument,
                   "access rule '" + each.name +
                       "' is for nobody: it has no certificates, no users, no tokens and is not "
                       "for anonymous peers"};
    if (!std::ranges::all_of(each.tokens, is_digest))
      return error{errc::invalid_argument,
                   "access rule '" + each.name +
                       "': tokens are given as digests, 'sha256:' and 64 digits of 0-9 and a-f"};
  }
  return {};
}

access_ptr find_access(const access_rules& rules, const peer_identity& who) {
  const auto found =
      std::ranges::find_if(rules, [&](const auto& each) { return is_for(each, who); });
  return found == rules.end() ? nullptr : std::make_shared<const access_rule>(*found);
}

bool may_subscribe(const access_ptr& who, std::string_view prefix) {
  return !who || !who->subscribe || overlaps(*who->subscribe, prefix);
}

} // namespace pubsub
