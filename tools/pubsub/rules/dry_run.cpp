// SPDX-License-Identifier: BSD-3-Clause
#include "rules/dry_run.hpp"

#include "terminal.hpp"

#ifdef PUBSUB_HAS_RECORD
#include "json_object.hpp"
#include "recording/moments.hpp"

#include <algorithm>
#include <iterator>
#include <memory>

#include <fmt/format.h>

#include <pubsub/binary.hpp>
#include <pubsub/condition_matcher.hpp>
#include <pubsub/record/reader.hpp>
#endif

namespace pubsub::tool {

#ifdef PUBSUB_HAS_RECORD
namespace {

constexpr std::size_t shown_topics = 3;

/// A rule, and what it has come across.
struct tried_rule {
  rule what;
  rule_counters counters = {};
  std::vector<std::string> topics = {};          ///< the first ones
  std::optional<condition_matcher> matcher = {}; ///< of a rule that publishes under a condition

  void note(std::string_view topic) {
    if (topics.size() < shown_topics && std::ranges::count(topics, topic) == 0)
      topics.emplace_back(topic);
  }
};

class trial {
public:
  trial(std::vector<rule> rules, const std::optional<mask_key>& key) {
    const auto screened = std::stable_partition(rules.begin(), rules.end(), [](const rule& each) {
      return each.action != rule_action::publish;
    });
    for (auto each = screened; each != rules.end(); ++each) {
      auto& fresh = publishing_.emplace_back(tried_rule{.what = std::move(*each)});
      if (fresh.what.match)
        fresh.matcher.emplace(*fresh.what.match);
    }
    rules.erase(screened, rules.end());
    for (const auto& each : rules)
      screening_.push_back({.what = each});
    screen_ = std::make_unique<rule_screen>(std::move(rules), key);
    part_ = std::make_unique<rule_part>(*screen_, message_fields{});
  }

  void take(std::string_view topic, std::span<std::byte> value, timestamp when) {
    ++messages_;
    applied_.clear();
    const bool passes = part_->passes(topic, value, when.time_since_epoch(), &applied_);
    for (const auto each : applied_)
      screening_[each].note(topic);
    if (!passes) {
      ++dropped_;
      return;
    }
    for (auto& each : publishing_)
      if (each.what.topics.matches(topic) && (!each.matcher || each.matcher->wants(topic, value))) {
        each.note(topic);
        ++each.counters.matched;
        ++each.counters.passed;
      }
  }
  bool print(bool json) {
    const auto counted = screen_->counters();
    for (std::size_t i = 0; i < counted.size(); ++i)
      screening_[i].counters = counted[i];
    std::ranges::move(publishing_, std::back_inserter(screening_));
    return json ? print_objects() : print_table();
  }

private:
  bool print_objects() const {
    line_output out;
    for (const auto& each : screening_)
      out.add(json_object{}
                  .add("rule", each.what.text.name)
                  .add("action", each.what.action_text())
                  .add("matched", each.counters.matched)
                  .add("passed", each.counters.passed)
                  .add("dropped", each.counters.dropped)
                  .add("topics", each.topics)
                  .text());
    return out.flush();
  }
  bool print_table() const {
    line_output out;
    out.add(fmt::format("{:<20} {:<28} {:>12} {:>12} {:>12}  {}", "RULE", "ACTION", "MATCHED",
                        "PASSED", "DROPPED", "TOPICS"));
    for (const auto& each : screening_) {
      std::vector<std::string> topics;
      for (const auto& topic : each.topics)
        topics.push_back(printable(topic));
      out.add(fmt::format("{:<20} {:<28} {:>12} {:>12} {:>12}  {}", printable(each.what.text.name),
                          printable(each.what.action_text()), grouped(each.counters.matched),
                          grouped(each.counters.passed), grouped(each.counters.dropped),
                          fmt::join(topics, ", ")));
    }
    out.add(fmt::format("{} messages: {} would pass, {} would be dropped", grouped(messages_),
                        grouped(messages_ - dropped_), grouped(dropped_)));
    return out.flush();
  }

  std::vector<tried_rule> screening_;
  std::vector<tried_rule> publishing_;
  std::unique_ptr<rule_screen> screen_;
  std::unique_ptr<rule_part> part_;
  std::vector<std::size_t> applied_;
  std::uint64_t messages_ = 0;
  std::uint64_t dropped_ = 0;
};

/// The value in bin::v1, which masks may change.
expected<std::vector<std::byte>> value_bytes(const record::message& msg) {
  if (msg.encoding == record::binary_encoding)
    return std::vector<std::byte>{msg.payload.begin(), msg.payload.end()};
  const auto value = record::value_of(msg);
  if (!value)
    return value.error();
  return encode_binary(*value);
}

} // namespace

exit_code dry_run(const std::string& recording, std::vector<rule> rules,
                  const std::optional<mask_key>& key, bool json) {
  auto reader = record::reader::open(recording);
  if (!reader)
    return fail(reader.error());
  trial tried{std::move(rules), key};
  skip_log skipped;
  for (;;) {
    const auto msg = reader->next();
    if (!msg) {
      skipped.add(msg.error());
      if (msg.error() == errc::cannot_open_file)
        return fail(msg.error());
      continue;
    }
    if (!*msg)
      break;
    auto value = value_bytes(**msg);
    if (value)
      tried.take((*msg)->topic, *value, (*msg)->log_time);
    else
      skipped.add(value.error());
  }
  if (skipped.total() > 0)
    complain(fmt::format("{}: left out what could not be read: {}", recording, skipped.summary()));
  return tried.print(json) ? exit_code::ok : exit_code::usage;
}
#else
exit_code dry_run(const std::string&, std::vector<rule>, const std::optional<mask_key>&, bool) {
  return fail({errc::not_supported, "this build reads no recordings: zstd was not found"});
}
#endif

} // namespace pubsub::tool
