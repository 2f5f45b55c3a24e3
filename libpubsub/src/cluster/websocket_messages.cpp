// SPDX-License-Identifier: BSD-3-Clause
#include "cluster/websocket_messages.hpp"

#include "format/json_members.hpp"

#include <pubsub/format.hpp>
#include <pubsub/zeek/event.hpp>

#include <algorithm>
#include <optional>
#include <utility>

namespace pubsub::cluster {

namespace {

// What Zeek says is wrong.
constexpr const char* no_array = "subscriptions not an array";
constexpr const char* no_string = "individual subscription not a string";
constexpr const char* no_json = "failed to decode JSON object";
constexpr const char* no_topic = "no topic in top-level JSON object";
constexpr const char* no_event = "failed to create Zeek event";

/// What `encode_json_message` says where there is none.
constexpr std::string_view missing_topic = "<$>";

bool is_event(const data_view& x) {
  const auto event = zeek::view_event(x);
  return event && !event->name().empty();
}

std::optional<std::vector<data_view>> elements_of(const data_view& x, std::size_t at_least) {
  if (x.type() != data_type::vector || x.size() < at_least)
    return {};
  const auto range = x.elements();
  return std::vector<data_view>(range.begin(), range.end());
}

/// The event that Zeek sees where the kind of message is another, or the metadata malformed: all
/// that it looks at is the name and the arguments. Empty where it sees none.
data_writer as_event(const data_view& x) {
  const auto envelope = elements_of(x, 3);
  if (!envelope || (*envelope)[0].type() != data_type::count ||
      (*envelope)[1].type() != data_type::count)
    return {};
  const auto content = elements_of((*envelope)[2], 2);
  if (!content || (*content)[0].type() != data_type::string || (*content)[0].as_string().empty() ||
      (*content)[1].type() != data_type::vector)
    return {};
  data_writer out;
  out.begin_vector(3);
  out.write_count(1);
  out.write_count(static_cast<count>(zeek::message_kind::event));
  out.begin_vector(2);
  out.write_encoded((*content)[0].bytes());
  out.write_encoded((*content)[1].bytes());
  return out;
}

} // namespace

bool is_application_name(std::string_view text) noexcept {
  constexpr std::string_view others = "/_.=:*@-";
  return !text.empty() && std::ranges::all_of(text, [&](char c) {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
           others.find(c) != others.npos;
  });
}

expected<std::vector<std::string>> read_subscriptions(std::string_view text) {
  auto read = json_strings_from(text);
  if (read)
    return std::move(*read);
  const auto code = read.error().code();
  return error{code, code == errc::type_clash ? no_string : no_array};
}

std::string subscriptions_message(const std::vector<std::string>& prefixes) {
  std::vector<std::string> texts;
  for (const auto& each : prefixes)
    texts.push_back(json_string(each));
  return json_list(texts);
}

expected<void> read_event(std::string_view text, websocket_event& out) {
  if (!encode_json_message(text, out.topic, out.value))
    return error{errc::invalid_json, no_json};
  if (out.topic == missing_topic)
    return error{errc::type_clash, no_topic};
  const auto value = data_view::from_valid(out.value.bytes());
  if (is_event(value))
    return {};
  out.value = as_event(value);
  if (out.value.size_bytes() == 0)
    return error{errc::invalid_message, no_event};
  return {};
}

expected<websocket_message> read_server_message(std::string_view text) {
  constexpr std::string_view usual = R"({"type":"data-message",)";
  if (!text.starts_with(usual))
    if (auto members = json_string_members_from(text)) {
      auto& of = *members;
      if (of["type"] == "ack")
        return websocket_message{websocket_ack{of["endpoint"], of["version"]}};
      if (of["type"] == "error")
        return websocket_message{
            websocket_error{of["code"], of[of.contains("context") ? "context" : "message"]}};
    }
  websocket_event event;
  if (const auto read = read_event(text, event); !read)
    return read.error();
  return websocket_message{std::move(event)};
}

std::string ack_message(const websocket_ack& x) {
  return json_members{}
      .add("type", "ack")
      .add("endpoint", x.endpoint)
      .add("version", x.version)
      .text();
}

std::string error_message(const websocket_error& x) {
  return json_members{}.add("type", "error").add("code", x.code).add("context", x.context).text();
}

bool append_event(std::string& out, std::string_view topic, const data_view& value,
                  json_strings form) {
  if (zeek::kind_of(value) != zeek::message_kind::event)
    return false;
  append_json_message(out, topic, value, form);
  return true;
}

} // namespace pubsub::cluster
