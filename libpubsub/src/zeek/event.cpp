// SPDX-License-Identifier: BSD-3-Clause
#include <pubsub/zeek/event.hpp>

#include <algorithm>
#include <initializer_list>
#include <utility>

namespace pubsub::zeek {

namespace {

constexpr count format_version = 1;

// Ids of metadata. Zeek keeps those below 200 to itself; the last two are "tp" and "ts" in ASCII.
constexpr count network_time_id = 1;
constexpr count traceparent_id = 0x7470;
constexpr count tracestate_id = 0x7473;

struct envelope {
  count kind = 0;
  data_view content;
};

struct event_metadata {
  std::optional<timestamp> network_time;
  std::optional<std::string_view> traceparent, tracestate;
};

struct event_parts {
  std::string_view name;
  data_view args;
  event_metadata metadata;
};

bool is_vector_of(const data_view& x, std::size_t at_least) noexcept {
  return x.type() == data_type::vector && x.size() >= at_least;
}

std::optional<envelope> open(const data_view& x) noexcept {
  if (!is_vector_of(x, 3))
    return std::nullopt;
  auto element = x.elements().begin();
  const auto version = *element++;
  const auto kind = *element++;
  const auto content = *element;
  if (version.type() != data_type::count || version.as_count() != format_version ||
      kind.type() != data_type::count || content.type() != data_type::vector)
    return std::nullopt;
  return envelope{kind.as_count(), content};
}

bool has_digits(std::string_view text) noexcept {
  return text.find_first_not_of("0123456789abcdef") == text.npos;
}
bool is_zero(std::string_view digits) noexcept {
  return digits.find_first_not_of('0') == digits.npos;
}

/// version-trace-span-flags
bool is_traceparent(std::string_view text) noexcept {
  if (text.size() != 55 || !text.starts_with("00-") || text[35] != '-' || text[52] != '-')
    return false;
  const auto trace = text.substr(3, 32);
  const auto span = text.substr(36, 16);
  return has_digits(trace) && has_digits(span) && has_digits(text.substr(53)) && !is_zero(trace) &&
         !is_zero(span);
}

bool is_tracestate(std::string_view text) noexcept {
  return text.size() <= 512 &&
         std::ranges::all_of(text, [](char x) { return x >= ' ' && x <= '~'; });
}

std::optional<timestamp> time_of(const data& x) noexcept {
  const auto* time = x.get_if<timestamp>();
  return time != nullptr ? std::optional{*time} : std::nullopt;
}
std::optional<timestamp> time_of(const data_view& x) noexcept {
  return x.type() == data_type::timestamp ? std::optional{x.as_timestamp()} : std::nullopt;
}
std::string_view text_of(const data& x) noexcept {
  const auto* text = x.get_if<std::string>();
  return text != nullptr ? std::string_view{*text} : std::string_view{};
}
std::string_view text_of(const data_view& x) noexcept {
  return x.type() == data_type::string ? x.as_string() : std::string_view{};
}

/// What is not valid is as if it were not there.
void check_trace(event_metadata& found) noexcept {
  if (found.traceparent && !is_traceparent(*found.traceparent))
    found.traceparent.reset();
  if (found.tracestate && (!found.traceparent || !is_tracestate(*found.tracestate)))
    found.tracestate.reset();
}

/// An entry of the metadata, which is a vector of [id, value]; the first of an id counts. False
/// where it is malformed. Ids that are not known here are passed over.
template <class Value>
bool read_entry(count id, const Value& value, event_metadata& found) noexcept {
  if (id == network_time_id) {
    const auto time = time_of(value);
    if (!found.network_time)
      found.network_time = time;
    return time.has_value();
  }
  if (id == traceparent_id && !found.traceparent)
    found.traceparent = text_of(value);
  if (id == tracestate_id && !found.tracestate)
    found.tracestate = text_of(value);
  return true;
}

bool read_metadata(const data_view& metadata, event_metadata& found) noexcept {
  if (metadata.type() != data_type::vector)
    return false;
  for (const auto entry : metadata.elements()) {
    if (!is_vector_of(entry, 2))
      return false;
    auto part = entry.elements().begin();
    const auto id = *part++;
    if (id.type() != data_type::count || !read_entry(id.as_count(), *part, found))
      return false;
  }
  check_trace(found);
  return true;
}

std::optional<event_parts> read_event(const data_view& content) noexcept {
  if (content.size() < 2)
    return std::nullopt;
  auto element = content.elements().begin();
  const auto name = *element++;
  const auto args = *element;
  if (name.type() != data_type::string || args.type() != data_type::vector)
    return std::nullopt;
  event_parts parts{name.as_string(), args, {}};
  if (content.size() > 2 && !read_metadata(*++element, parts.metadata))
    return std::nullopt;
  return parts;
}

bool starts_with_types(const data_view& content, std::initializer_list<data_type> types,
                       std::size_t at_least) noexcept {
  if (content.size() < at_least)
    return false;
  auto element = content.elements().begin();
  for (const auto type : types)
    if ((*element++).type() != type)
      return false;
  return true;
}

bool all_valid(const data_view& members) noexcept {
  for (const auto member : members.elements())
    if (!kind_of(member))
      return false;
  return true;
}

bool has_content_of(message_kind kind, const data_view& content) noexcept {
  using enum data_type;
  switch (kind) {
  case message_kind::event:
    return read_event(content).has_value();
  case message_kind::log_create:
    return starts_with_types(content, {enum_value, enum_value}, 4);
  case message_kind::log_write:
    return starts_with_types(content, {enum_value, enum_value, string, string}, 4);
  case message_kind::identifier_update:
    return starts_with_types(content, {string}, 2);
  case message_kind::batch:
    return all_valid(content);
  }
  return false;
}

error not_an_event() {
  return {errc::invalid_message, "not a Zeek event"};
}

const vector* vector_of(const data& x, std::size_t at_least) noexcept {
  const auto* elements = x.get_if<vector>();
  return elements != nullptr && elements->size() >= at_least ? elements : nullptr;
}

bool read_metadata(const data& metadata, event_metadata& found) noexcept {
  const auto* entries = metadata.get_if<vector>();
  if (entries == nullptr)
    return false;
  for (const auto& item : *entries) {
    const auto* entry = vector_of(item, 2);
    const auto* id = entry == nullptr ? nullptr : (*entry)[0].get_if<count>();
    if (id == nullptr || !read_entry(*id, (*entry)[1], found))
      return false;
  }
  check_trace(found);
  return true;
}

} // namespace

std::optional<message_kind> kind_of(const data_view& x) noexcept {
  const auto message = open(x);
  if (!message || message->kind > static_cast<count>(message_kind::batch))
    return std::nullopt;
  const auto kind = static_cast<message_kind>(message->kind);
  if (!has_content_of(kind, message->content))
    return std::nullopt;
  return kind;
}

expected<trace_context> trace_context::make(std::string_view traceparent,
                                            std::string_view tracestate) {
  if (!is_traceparent(traceparent))
    return error{errc::invalid_argument,
                 "no traceparent: " + std::string{traceparent.substr(0, 100)} +
                     "; it is 00-, 32 and 16 digits and 2 of flags between dashes, hexadecimal in "
                     "lower case, and neither number is 0"};
  if (!is_tracestate(tracestate))
    return error{errc::invalid_argument,
                 "no tracestate: it is up to 512 printable ASCII characters"};
  return trace_context{traceparent, tracestate};
}

data make_event(std::string name, vector args, std::optional<timestamp> network_time,
                const std::optional<trace_context>& trace) {
  vector metadata; // not vector{vector{...}}: compilers disagree whether that nests or copies
  if (network_time)
    metadata.emplace_back(vector{network_time_id, *network_time});
  if (trace)
    metadata.emplace_back(vector{traceparent_id, trace->traceparent()});
  if (trace && !trace->tracestate().empty())
    metadata.emplace_back(vector{tracestate_id, trace->tracestate()});
  vector content;
  content.reserve(metadata.empty() ? 2 : 3);
  content.emplace_back(std::move(name));
  content.emplace_back(std::move(args));
  if (!metadata.empty())
    content.emplace_back(std::move(metadata));
  vector message;
  message.reserve(3);
  message.emplace_back(format_version);
  message.emplace_back(static_cast<count>(message_kind::event));
  message.emplace_back(std::move(content));
  return message;
}

expected<event> parse_event(const data& x) {
  const auto* message = vector_of(x, 3);
  if (message == nullptr || (*message)[0] != data{format_version} ||
      (*message)[1] != data{static_cast<count>(message_kind::event)})
    return not_an_event();
  const auto* content = vector_of((*message)[2], 2);
  if (content == nullptr)
    return not_an_event();
  const auto* name = (*content)[0].get_if<std::string>();
  const auto* args = (*content)[1].get_if<vector>();
  event_metadata metadata;
  if (name == nullptr || args == nullptr ||
      (content->size() > 2 && !read_metadata((*content)[2], metadata)))
    return not_an_event();
  event result{*name, *args, metadata.network_time, {}};
  if (metadata.traceparent)
    result.trace = trace_context{*metadata.traceparent, metadata.tracestate.value_or("")};
  return result;
}

expected<event_view> view_event(const data_view& x) {
  const auto message = open(x);
  if (!message || message->kind != static_cast<count>(message_kind::event))
    return not_an_event();
  const auto parts = read_event(message->content);
  if (!parts)
    return not_an_event();
  event_view result;
  result.name_ = parts->name;
  result.args_ = parts->args;
  result.network_time_ = parts->metadata.network_time;
  result.traceparent_ = parts->metadata.traceparent.value_or("");
  result.tracestate_ = parts->metadata.tracestate.value_or("");
  return result;
}

} // namespace pubsub::zeek
