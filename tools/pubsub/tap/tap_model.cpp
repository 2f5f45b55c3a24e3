// SPDX-License-Identifier: BSD-3-Clause
#include "tap/tap_model.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "json_object.hpp"
#include "terminal.hpp"

namespace pubsub::tool {

tap_model::tap_model(const tap_limits& limits, time_point now)
    : limits_(limits), began_(now),
      at_once_(limits.shown_per_s > 0 ? std::max(limits.shown_per_s, 1.0) : 0), allowed_(at_once_),
      then_(now) {}

bool tap_model::take(std::string_view topic, std::size_t bytes, time_point now) {
  auto found = topics_.find(topic);
  if (found == topics_.end() && topics_.size() < limits_.topics)
    found = topics_.emplace(topic, counts{}).first;
  auto& of = found == topics_.end() ? others_ : found->second;
  ++of.messages;
  of.bytes += bytes;
  const bool chosen = came_++ % limits_.one_of == 0;
  if (!chosen || !may_show(now))
    return false;
  ++shown_;
  return true;
}

bool tap_model::may_show(time_point now) {
  const auto passed = std::chrono::duration<double>(now - std::exchange(then_, now)).count();
  allowed_ = std::min(allowed_ + passed * limits_.shown_per_s, at_once_);
  if (allowed_ < 1)
    return false;
  --allowed_;
  return true;
}

double tap_model::seconds_until(time_point now) const {
  constexpr double least = 1e-3; // no rate is divided by nothing
  return std::max(std::chrono::duration<double>(now - began_).count(), least);
}

std::string tap_model::summary(std::uint64_t dropped, std::uint64_t missed) const {
  auto text = limits_.shown_per_s > 0
                  ? fmt::format("{} came: {} shown, {} passed over, {} dropped here",
                                came_ + dropped, shown_, came_ - shown_, dropped)
                  : fmt::format("{} came, {} of them dropped here", came_ + dropped, dropped);
  return missed > 0 ? text + fmt::format("; {} more were lost on the way", missed) : text;
}

std::string tap_model::table(std::size_t most, time_point now) const {
  std::vector<std::pair<std::string, counts>> all{topics_.begin(), topics_.end()};
  std::ranges::stable_sort(all, std::greater{}, [](const auto& x) { return x.second.messages; });
  const auto seconds = seconds_until(now);
  const auto line = [&](const counts& x, std::string_view topic) {
    return fmt::format("{:>10} {:>7} {:>7}  {}\n", x.messages,
                       short_number(static_cast<double>(x.messages) / seconds),
                       short_number(static_cast<double>(x.bytes) / seconds), topic);
  };
  auto result = fmt::format("{:>10} {:>7} {:>7}  {}\n", "MESSAGES", "MSG/s", "BYTE/s", "TOPIC");
  auto rest = others_;
  std::size_t hidden = 0;
  for (const auto& [topic, x] : all) {
    if (most > 0) {
      result += line(x, printable(topic));
      --most;
      continue;
    }
    rest.messages += x.messages;
    rest.bytes += x.bytes;
    ++hidden;
  }
  if (rest.messages > 0)
    result += line(rest, others_.messages > 0 ? "(all others)"
                                              : fmt::format("({} other topics)", hidden));
  return result;
}

std::string tap_model::json(std::uint64_t dropped, std::uint64_t missed, time_point now) const {
  const auto seconds = seconds_until(now);
  std::vector<json_object> all;
  for (const auto& [topic, x] : topics_)
    all.push_back(json_object{}
                      .add("topic", topic)
                      .add("messages", x.messages)
                      .add("bytes", x.bytes)
                      .add("per_s", static_cast<double>(x.messages) / seconds)
                      .add("bytes_per_s", static_cast<double>(x.bytes) / seconds));
  return json_object{}
      .add("schema", 1U)
      .add("seconds", seconds)
      .add("came", came_ + dropped)
      .add("dropped", dropped)
      .add("missed", missed)
      .add("topics", all)
      .add("on_other_topics", others_.messages)
      .text();
}

} // namespace pubsub::tool
