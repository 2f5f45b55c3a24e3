// SPDX-License-Identifier: BSD-3-Clause
#include "filter/subscription_text.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace pubsub {

namespace {

constexpr char nothing = '\0';
constexpr std::string_view if_yes = "y";
constexpr std::string_view if_no = "n";

/// The text up to the next NUL, which is taken off as well.
std::string_view take_part(std::string_view& from) noexcept {
  const auto end = std::min(from.find(nothing), from.size());
  const auto result = from.substr(0, end);
  from.remove_prefix(std::min(end + 1, from.size()));
  return result;
}

bool has_nul(const record_column& x) noexcept {
  return x.name.find(nothing) != std::string::npos || x.type.find(nothing) != std::string::npos;
}

} // namespace

std::string told_form(const condition& what) {
  std::string result{condition_mark};
  result += what.text();
  result += nothing;
  result += what.unknown() == if_unknown::yes ? if_yes : if_no;
  for (const auto& each : what.columns()) {
    result += nothing + each.name;
    result += nothing + each.type;
  }
  const bool tellable = what.text().find(nothing) == std::string::npos &&
                        std::ranges::none_of(what.columns(), has_nul) &&
                        result.size() <= max_told_condition_bytes;
  return tellable ? result : std::string{};
}

condition_pool::condition_ptr condition_pool::read(std::string_view told) {
  if (const auto found = known_.find(told); found != known_.end())
    if (auto what = found->second.lock())
      return what;
  if (told.size() > max_told_condition_bytes || !told.starts_with(condition_mark))
    return nullptr;
  auto left = told.substr(condition_mark.size());
  const auto text = take_part(left);
  condition_options options;
  options.unknown = take_part(left) == if_yes ? if_unknown::yes : if_unknown::no;
  options.regex = regex_;
  while (!left.empty()) {
    const std::string name{take_part(left)};
    options.columns.push_back({name, std::string{take_part(left)}});
  }
  auto made = condition::make(text, options);
  if (!made)
    return nullptr;
  auto result = std::make_shared<const condition>(std::move(*made));
  if (known_.size() >= look_again_) {
    std::erase_if(known_, [](const auto& each) { return each.second.expired(); });
    look_again_ = 64 + 2 * known_.size();
  }
  known_.insert_or_assign(std::string{told}, result);
  return result;
}

} // namespace pubsub
