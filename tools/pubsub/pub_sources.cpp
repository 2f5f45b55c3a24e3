// SPDX-License-Identifier: BSD-3-Clause
#include "pub_sources.hpp"

#include <chrono>
#include <utility>

#include <pubsub/format.hpp>
#include <pubsub/zeek/event.hpp>

#include "zeek_logs/event_dump.hpp"
#include "zeek_logs/log_reader.hpp"

namespace pubsub::tool {

namespace {

using maybe_outgoing = std::optional<outgoing>;

error at_line(const line_reader& lines, const error& problem) {
  return {problem.code(),
          lines.file() + ":" + std::to_string(lines.line()) + ": " + problem.message()};
}

// Lines that are one message each, parsed by `Parse`.
template <class Parse>
class line_source final : public message_source {
public:
  line_source(line_reader lines, Parse parse, std::string prefix = {})
      : lines_(std::move(lines)), parse_(std::move(parse)), prefix_(std::move(prefix)) {}

  expected<maybe_outgoing> next() override {
    for (;;) {
      auto line = lines_.next();
      if (!line)
        return line.error();
      if (!*line)
        return maybe_outgoing{};
      auto message = parse_(**line);
      if (!message)
        return at_line(lines_, message.error());
      if (*message)
        return message;
    }
  }
  const line_reader& lines() const override { return lines_; }
  std::string wait_prefix() const override { return prefix_; }

private:
  line_reader lines_;
  Parse parse_;
  std::string prefix_;
};

template <class Parse>
std::unique_ptr<message_source> make_line_source(line_reader lines, Parse parse,
                                                 std::string prefix = {}) {
  return std::make_unique<line_source<Parse>>(std::move(lines), std::move(parse),
                                              std::move(prefix));
}

// Records of a log. The columns go out before the first record, when they change, and with the next
// record once a second has passed, so that late subscribers learn them too.
class log_source final : public message_source {
public:
  explicit log_source(zeek::log_reader reader) : reader_(std::move(reader)) {}

  expected<maybe_outgoing> next() override {
    if (held_back_)
      return std::exchange(held_back_, std::nullopt);
    auto record = reader_.next();
    if (!record)
      return record.error();
    if (!*record)
      return maybe_outgoing{};
    const auto& schema = reader_.schema();
    auto topic = zeek::log_topic(schema.path);
    outgoing message{topic, zeek::make_log_event(schema.path, std::move((*record)->values))};
    if (!schema_is_due(schema))
      return maybe_outgoing{std::move(message)};
    held_back_ = std::move(message);
    return maybe_outgoing{
        outgoing{std::move(topic), zeek::make_log_fields_event(schema), outgoing::kind::schema}};
  }
  const line_reader& lines() const override { return reader_.lines(); }
  std::string wait_prefix() const override { return {}; }

private:
  bool schema_is_due(const zeek::log_schema& schema) {
    constexpr std::chrono::seconds period{1};
    auto now = std::chrono::steady_clock::now();
    if (schema.version == sent_version_ && now < sent_at_ + period)
      return false;
    sent_version_ = schema.version;
    sent_at_ = now;
    return true;
  }

  zeek::log_reader reader_;
  maybe_outgoing held_back_;
  std::uint64_t sent_version_ = 0;
  std::chrono::steady_clock::time_point sent_at_;
};

#ifdef PUBSUB_HAS_JSON
constexpr auto json_log_parser = &zeek::make_json_log_parser;

expected<std::unique_ptr<message_source>> json_source(line_reader lines, const std::string& topic) {
  if (topic.empty())
    return make_line_source(
        std::move(lines), [](std::string_view line) -> expected<maybe_outgoing> {
          if (line.empty())
            return maybe_outgoing{};
          auto parsed = message_from_json(line);
          if (!parsed)
            return parsed.error();
          return maybe_outgoing{outgoing{std::move(parsed->topic), std::move(parsed->value)}};
        });
  return make_line_source(std::move(lines),
                          [topic](std::string_view line) -> expected<maybe_outgoing> {
                            if (line.empty())
                              return maybe_outgoing{};
                            auto parsed = from_json(line);
                            if (!parsed)
                              return parsed.error();
                            return maybe_outgoing{outgoing{topic, std::move(*parsed)}};
                          });
}

expected<std::unique_ptr<message_source>> event_source(line_reader lines) {
  auto parse = [parser = zeek::event_dump_parser{}](
                   std::string_view line) mutable -> expected<maybe_outgoing> {
    auto event = parser.parse(line);
    if (!event)
      return event.error();
    if (!*event)
      return maybe_outgoing{};
    auto [name, args, time] = std::move(**event);
    auto topic = zeek::event_topic(name);
    return maybe_outgoing{
        outgoing{std::move(topic), zeek::make_event(std::move(name), std::move(args), time)}};
  };
  return make_line_source(std::move(lines), std::move(parse), zeek::event_topic({}));
}
#else
constexpr std::unique_ptr<zeek::log_parser> (*json_log_parser)(std::string) = nullptr;

error no_json() {
  return {errc::not_supported, "this build reads no JSON: it was made without simdjson"};
}

expected<std::unique_ptr<message_source>> json_source(line_reader, const std::string&) {
  return no_json();
}
expected<std::unique_ptr<message_source>> event_source(line_reader) {
  return no_json();
}
#endif

} // namespace

expected<std::unique_ptr<message_source>> open_source(const source_options& options) {
  if (!options.zeek_log.empty()) {
    auto reader = zeek::log_reader::open(options.zeek_log, {options.mode, json_log_parser});
    if (!reader)
      return reader.error();
    return std::unique_ptr<message_source>{std::make_unique<log_source>(std::move(*reader))};
  }
  auto lines = line_reader::open(options.zeek_events.empty() ? options.input : options.zeek_events,
                                 options.mode);
  if (!lines)
    return lines.error();
  if (!options.zeek_events.empty())
    return event_source(std::move(*lines));
  if (!options.text)
    return json_source(std::move(*lines), options.topic);
  auto topic = options.topic;
  return make_line_source(std::move(*lines),
                          [topic](std::string_view line) -> expected<maybe_outgoing> {
                            return maybe_outgoing{outgoing{topic, data{line}}};
                          });
}

} // namespace pubsub::tool
