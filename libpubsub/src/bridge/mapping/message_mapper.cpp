// SPDX-License-Identifier: BSD-3-Clause
#include "bridge/mapping/message_mapper.hpp"

#include <array>
#include <utility>

#include <pubsub/data_writer.hpp>
#include <pubsub/format.hpp>
#include <pubsub/zeek/event.hpp>

namespace pubsub::bridge {

namespace {

constexpr std::array<std::string_view, 3> known_variables{"topic", "path", "event"};
// Topics may be made up of whatever is seen in traffic.
constexpr std::size_t most_names = 4096;

std::string_view as_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

} // namespace

expected<message_mapper> message_mapper::make(const sink_options& options, usable_name names) {
  auto to = name_template::parse(options.to, known_variables);
  if (!to)
    return error{errc::invalid_argument, "to: " + to.error().context()};
  auto key = key_rule::parse(options.key);
  if (!key)
    return key.error();
  if (options.format == payload_format::plain_json || options.format == payload_format::string)
    return error{errc::invalid_argument, "format: plain-json and string are for sources"};
  return message_mapper{options, std::move(names), std::move(*to), std::move(*key)};
}

message_mapper::message_mapper(const sink_options& options, usable_name names, name_template to,
                               key_rule key)
    : format_(options.format), headers_(options.headers), network_(options.network),
      dead_letters_(options.dead_letters), usable_name_(std::move(names)), to_(std::move(to)),
      key_(std::move(key)), lines_(zeek::make_json_lines({})) {}

rejection message_mapper::map(const provenance& from, const data_view& value,
                              std::vector<engine_record>& out) {
  const auto before = out.size();
  const auto why = needs_record() ? map_records(from, value, out) : map_value(from, value, out);
  if (why != nullptr) {
    out.resize(before);
    return why;
  }
  for (auto i = before; i < out.size(); ++i)
    describe(out[i].from, from, i - before);
  return nullptr;
}

/// Without headers only that by which an engine knows a record that comes again.
void message_mapper::describe(provenance& out, const provenance& from, std::uint64_t part) const {
  out.hidden = !headers_;
  out.origin = from.origin;
  out.sequence = from.sequence;
  out.redelivered = from.redelivered;
  out.part = part;
  if (!headers_)
    return;
  out.topic = from.topic;
  out.network = network_;
  out.format = format_;
}

rejection message_mapper::map_value(const provenance& from, const data_view& value,
                                    std::vector<engine_record>& out) {
  std::string_view event_name;
  if (to_.uses(event)) {
    const auto found = zeek::view_event(value);
    if (!found)
      return &rejections::not_a_record;
    event_name = found->name();
  }
  const auto& to = name_for(from.topic, {}, event_name);
  if (to.empty())
    return &rejections::bad_name;
  auto& record = out.emplace_back();
  record.to = to;
  key_.add_key(record.key, from.origin, from.topic);
  record.payload = payload_of(value);
  return nullptr;
}

rejection message_mapper::map_records(const provenance& from, const data_view& value,
                                      std::vector<engine_record>& out) {
  rejection failed = nullptr;
  const auto none_there =
      records_.read(value, [&](const zeek::log_schema& schema, const vector& values) {
        auto& record = out.emplace_back();
        record.to = name_for(from.topic, schema.path, to_.uses(event) ? "log_" + schema.path : "");
        if (record.to.empty())
          failed = &rejections::bad_name;
        if (!key_.needs_record())
          key_.add_key(record.key, from.origin, from.topic);
        else if (!key_.add_key(record.key, schema, values))
          failed = &rejections::no_such_field;
        if (auto payload = text_of(schema, values))
          record.payload = std::move(*payload);
        else
          failed = &rejections::bad_payload;
      });
  return none_there != nullptr ? none_there : failed;
}

record_payload message_mapper::payload_of(const data_view& value) const {
  if (format_ == payload_format::json)
    return to_json(value);
  return record_payload::lent(as_text(value.bytes()));
}

std::optional<std::string> message_mapper::text_of(const zeek::log_schema& schema,
                                                   const vector& values) {
  std::string result;
  if (format_ == payload_format::avro)
    return avro_.add_record(result, schema, values) ? std::optional{std::move(result)}
                                                    : std::nullopt;
  if (format_ == payload_format::zeek_json) {
    lines_->add_record(schema, values, result);
    result.pop_back(); // the line feed
    return result;
  }
  data_writer encoded;
  encoded.write(zeek::make_log_event(schema.path, values));
  if (format_ == payload_format::json)
    return to_json(data_view::from_valid(encoded.bytes()));
  return std::string{as_text(encoded.bytes())};
}

const shared_text& message_mapper::name_for(std::string_view topic_name, std::string_view path_name,
                                            std::string_view event_name) {
  wanted_name_.clear();
  to_.expand(wanted_name_, [&](std::size_t which) {
    return which == topic ? topic_name : which == path ? path_name : event_name;
  });
  if (wanted_name_ == last_wanted_name_ && !wanted_name_.empty())
    return last_name_;
  auto known = names_.find(wanted_name_);
  if (known == names_.end()) {
    if (names_.size() >= most_names)
      names_.clear();
    known = names_.emplace(wanted_name_, usable_name_(wanted_name_)).first;
  }
  last_wanted_name_ = wanted_name_;
  last_name_ = known->second;
  return last_name_;
}

engine_record message_mapper::dead_letter(const provenance& from, const data_view& value,
                                          std::string_view reason) const {
  engine_record result{dead_letters_, {}, record_payload::lent(as_text(value.bytes())), from};
  result.from.format = payload_format::binary;
  result.from.network = network_;
  result.from.reason = reason;
  return result;
}

} // namespace pubsub::bridge
