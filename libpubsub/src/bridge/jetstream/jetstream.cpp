// SPDX-License-Identifier: BSD-3-Clause
#include "bridge/jetstream/jetstream.hpp"

#include <charconv>
#include <optional>
#include <set>
#include <utility>

#include "base/printable.hpp"
#include "bridge/jetstream/jetstream_reader.hpp"
#include "bridge/jetstream/jetstream_writer.hpp"
#include "bridge/jetstream/subject.hpp"

namespace pubsub::bridge {

namespace {

error wrong(std::string what) {
  return {errc::invalid_argument, printable(what)};
}

/// A durable consumer has one filter, so each filter of a group has one of its own, whose name does
/// not depend on the others.
std::string durable_name(const std::string& group, const std::string& filter, bool only_one) {
  if (group.empty() || only_one)
    return group;
  constexpr std::string_view digits = "0123456789abcdef";
  auto result = group + "-";
  for (const char c : filter) {
    const bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    if (plain) {
      result += c;
    } else {
      const auto bits = static_cast<unsigned char>(c);
      result += {'_', digits[bits >> 4], digits[bits & 15]};
    }
  }
  return result;
}

expected<void> set_begin(pull_options& out, const start_position& start) {
  using kind = start_position::kind;
  out.begin_anew = start.at != kind::stored;
  if (start.at == kind::end)
    out.begin = "new";
  if (start.at == kind::time) {
    out.begin = "by_start_time";
    out.time = start.time;
  }
  if (start.at == kind::offset) {
    out.begin = "by_start_sequence";
    const auto* const end = start.offset.data() + start.offset.size();
    const auto [at, failure] = std::from_chars(start.offset.data(), end, out.sequence);
    if (failure != std::errc{} || at != end || out.sequence == 0)
      return wrong("a sequence number of JetStream is 1 or more, and not " + start.offset);
  }
  return {};
}

} // namespace

expected<std::unique_ptr<engine_writer>> make_writer(const jetstream& to) {
  if (!to.stream.empty() && !is_asset_name(to.stream))
    return wrong("no name of a stream: " + to.stream);
  if (to.stream.empty() && !to.subjects.empty())
    return wrong("subjects need the name of the stream that is to take them");
  auto link = nats_link::make(to);
  if (!link)
    return link.error();
  return std::unique_ptr<engine_writer>{std::make_unique<jetstream_writer>(*std::move(link), to)};
}

expected<std::unique_ptr<engine_reader>> make_reader(const jetstream& from,
                                                     const source_options& options) {
  if (!is_asset_name(from.stream))
    return wrong(from.stream.empty() ? "a source needs the name of a stream of NATS"
                                     : "no name of a stream: " + from.stream);
  if (!options.group.empty() && !is_asset_name(options.group))
    return wrong("no name of a durable consumer: " + options.group);
  pull_options common;
  common.stream = from.stream;
  if (auto done = set_begin(common, options.start); !done)
    return done.error();
  const std::set<std::string> filters(options.from.begin(), options.from.end());
  std::vector<pull_options> consumers;
  for (const auto& each : filters.empty() ? std::set<std::string>{""} : filters) {
    if (!filters.empty() && !is_filter(each))
      return wrong("no subjects of NATS: " + each);
    auto& added = consumers.emplace_back(common);
    added.filter = each;
    added.durable = durable_name(options.group, each, filters.size() < 2);
  }
  auto link = nats_link::make(from);
  if (!link)
    return link.error();
  return std::unique_ptr<engine_reader>{
      std::make_unique<jetstream_reader>(*std::move(link), std::move(consumers))};
}

} // namespace pubsub::bridge
