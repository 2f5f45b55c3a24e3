// SPDX-License-Identifier: BSD-3-Clause
#include "rules/active_rules.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>

namespace pubsub::tool {

namespace {

/// As the text format wants the value of a label.
std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '\n') {
      result += "\\n";
      continue;
    }
    if (c == '"' || c == '\\')
      result += '\\';
    result += c;
  }
  return result;
}

} // namespace

/// Rules that publish and are new begin before others end: they may take over from one another.
void active_rules::change(std::vector<rule> rules, const std::optional<mask_key>& key) {
  const auto screening = std::stable_partition(rules.begin(), rules.end(), [](const rule& each) {
    return each.action != rule_action::publish;
  });
  std::vector<rule> publishing{std::make_move_iterator(screening),
                               std::make_move_iterator(rules.end())};
  rules.erase(screening, rules.end());
  std::vector<std::unique_ptr<copier>> ended;
  std::lock_guard lock{mutex_};
  if (!screen_ || screen_->rules() != rules || key_ != key) {
    screen_ = rules.empty() ? nullptr : std::make_shared<const rule_screen>(std::move(rules), key);
    key_ = key;
    ep_.set_screen(screen_);
  }
  ended = std::exchange(copiers_, {});
  for (const auto& each : publishing) {
    const auto same =
        std::ranges::find_if(ended, [&](const auto& x) { return x && x->by() == each; });
    copiers_.push_back(same != ended.end() ? std::move(*same)
                                           : std::make_unique<copier>(ep_, each));
  }
}

void active_rules::stop() {
  std::lock_guard lock{mutex_};
  for (const auto& each : copiers_)
    each->end();
}

std::vector<active_rules::counted> active_rules::count() const {
  std::lock_guard lock{mutex_};
  std::vector<counted> result;
  if (screen_) {
    const auto all = screen_->counters();
    for (std::size_t i = 0; i < all.size(); ++i)
      result.push_back({screen_->rules()[i].text.name, all[i]});
  }
  for (const auto& each : copiers_)
    result.push_back({each->by().text.name, each->counters()});
  return result;
}

std::string active_rules::metrics() const {
  const auto all = count();
  if (all.empty())
    return {};
  constexpr std::string_view name = "pubsub_rule_messages_total";
  auto result =
      fmt::format("# HELP {} Messages that a rule of the node was applied to: passed on or "
                  "published, or dropped.\n# TYPE {} counter\n",
                  name, name);
  for (const auto& [rule, counters] : all) {
    result += fmt::format("{}{{rule=\"{}\",outcome=\"passed\"}} {}\n", name, escaped(rule),
                          counters.passed);
    result += fmt::format("{}{{rule=\"{}\",outcome=\"dropped\"}} {}\n", name, escaped(rule),
                          counters.dropped);
  }
  return result;
}

std::vector<std::string> active_rules::totals() const {
  std::vector<std::string> result;
  for (const auto& [rule, counters] : count())
    result.push_back(fmt::format("rule {}: {} matched, {} passed, {} dropped", rule,
                                 counters.matched, counters.passed, counters.dropped));
  return result;
}

} // namespace pubsub::tool
