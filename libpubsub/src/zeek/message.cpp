// SPDX-License-Identifier: BSD-3-Clause
#include <pubsub/zeek/message.hpp>

#include "zeek/type_tag.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

namespace pubsub::zeek {

namespace {

constexpr std::size_t max_context_bytes = 200;

error bad(std::string_view message_name, std::string_view what) {
  auto context = std::string{message_name} + ": " + std::string{what};
  context.resize(std::min(context.size(), max_context_bytes)); // batches in batches name them all
  return {errc::invalid_message, std::move(context)};
}

/// The first `N` elements of a vector that has as many.
template <std::size_t N>
std::optional<std::array<data_view, N>> leading(const data_view& x) {
  if (x.type() != data_type::vector || x.size() < N)
    return {};
  std::array<data_view, N> result;
  auto element = x.elements().begin();
  for (auto& each : result)
    each = *element++;
  return result;
}

bool is_text(const data_view& x) noexcept {
  return x.type() == data_type::string;
}

/// Zeek sends counts; integers, as other senders write them, are numbers all the same.
std::optional<type_tag> tag_in(const data_view& x) {
  const auto number = x.type() == data_type::count     ? static_cast<std::int64_t>(x.as_count())
                      : x.type() == data_type::integer ? x.as_integer()
                                                       : std::int64_t{-1};
  if (!is_type_tag(number))
    return {};
  return static_cast<type_tag>(number);
}

std::optional<log_field> field_in(const data_view& x) {
  const auto parts = leading<4>(x); // the fifth says whether it is optional
  if (!parts || !is_text((*parts)[0]))
    return {};
  const auto type = tag_in((*parts)[2]);
  const auto subtype = tag_in((*parts)[3]);
  if (!type || !subtype)
    return {};
  return log_field{std::string{(*parts)[0].as_string()}, type_name(*type, *subtype)};
}

/// What both messages about logs begin with; an error where it is something else.
template <class Message>
error read_names(std::string_view name, const std::array<data_view, 4>& parts, Message& out) {
  if (parts[0].type() != data_type::enum_value)
    return bad(name, "stream is not an enum label");
  if (parts[1].type() != data_type::enum_value)
    return bad(name, "writer is not an enum label");
  out.stream = enum_value{std::string{parts[0].as_enum()}};
  out.writer = enum_value{std::string{parts[1].as_enum()}};
  return {};
}

expected<message> read_event_message(const data_view& x) {
  auto view = view_event(x);
  if (!view)
    return bad("Event", "name, arguments or metadata are malformed");
  return message{event{std::string{view->name()}, view->args_view().to_data().get<vector>(),
                       view->network_time(), view->trace()}};
}

expected<message> read_log_create(const data_view& content) {
  constexpr std::string_view name = "LogCreate";
  const auto parts = leading<4>(content);
  if (!parts)
    return bad(name, "fewer than four elements");
  log_create result;
  if (auto failure = read_names(name, *parts, result))
    return failure;
  if (const auto info = leading<1>((*parts)[2]); info && is_text((*info)[0]))
    result.path = (*info)[0].as_string();
  if ((*parts)[3].type() != data_type::vector)
    return bad(name, "fields are not a vector");
  for (const auto each : (*parts)[3].elements()) {
    auto field = field_in(each);
    if (!field)
      return bad(name, "field " + std::to_string(result.fields.size()) + " is malformed");
    result.fields.push_back(std::move(*field));
  }
  return message{std::move(result)};
}

expected<message> read_log_write(const data_view& content) {
  constexpr std::string_view name = "LogWrite";
  const auto parts = leading<4>(content);
  if (!parts)
    return bad(name, "fewer than four elements");
  log_write result;
  if (auto failure = read_names(name, *parts, result))
    return failure;
  if (!is_text((*parts)[2]))
    return bad(name, "path is not a string");
  if (!is_text((*parts)[3]))
    return bad(name, "the record is not a string");
  result.path = (*parts)[2].as_string();
  result.serialized = (*parts)[3].as_string();
  return message{std::move(result)};
}

expected<message> read_identifier_update(const data_view& content) {
  const auto parts = leading<2>(content);
  if (!parts || !is_text((*parts)[0]))
    return bad("IdentifierUpdate", "not a name and a value");
  return message{identifier_update{std::string{(*parts)[0].as_string()}, (*parts)[1].to_data()}};
}

expected<message> read_batch(const data_view& content) {
  batch result;
  for (const auto each : content.elements()) {
    auto member = parse_message(each);
    if (!member)
      return bad("Batch", "member " + std::to_string(result.messages.size()) + ": " +
                              member.error().context());
    result.messages.push_back(std::move(*member));
  }
  return message{std::move(result)};
}

void append_flat(std::vector<message>& out, message x) {
  auto* members = std::get_if<batch>(&x);
  if (members == nullptr)
    return out.push_back(std::move(x));
  for (auto& each : members->messages)
    append_flat(out, std::move(each));
}

} // namespace

bool operator==(const batch& x, const batch& y) {
  return x.messages == y.messages;
}

expected<message> parse_message(const data_view& x) {
  constexpr std::string_view name = "Zeek message";
  const auto parts = leading<3>(x);
  if (!parts)
    return bad(name, "not a vector of version, type and content");
  const auto& [version, kind, content] = *parts;
  if (version.type() != data_type::count || version.as_count() != 1)
    return bad(name, "version is not 1");
  if (kind.type() != data_type::count || content.type() != data_type::vector)
    return bad(name, "type is not a count, or content not a vector");
  if (kind.as_count() > static_cast<count>(message_kind::batch))
    return bad(name, "there is no type " + std::to_string(kind.as_count()));
  switch (static_cast<message_kind>(kind.as_count())) {
  case message_kind::event:
    return read_event_message(x);
  case message_kind::log_create:
    return read_log_create(content);
  case message_kind::log_write:
    return read_log_write(content);
  case message_kind::identifier_update:
    return read_identifier_update(content);
  case message_kind::batch:
    return read_batch(content);
  }
  return bad(name, "there is no type 0");
}

std::vector<message> flatten(message x) {
  std::vector<message> result;
  append_flat(result, std::move(x));
  return result;
}

} // namespace pubsub::zeek
