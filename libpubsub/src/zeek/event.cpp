#include <pubsub/zeek/event.hpp>

#include <initializer_list>
#include <utility>

namespace pubsub::zeek {

namespace {

constexpr count format_version = 1;
constexpr count network_time_id = 1;

struct envelope {
  count kind = 0;
  data_view content;
};

struct event_parts {
  std::string_view name;
  data_view args;
  std::optional<timestamp> network_time;
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

// Metadata is a vector of [id, value]; the first entry of an id counts. False where it is
// malformed.
bool read_metadata(const data_view& metadata, std::optional<timestamp>& network_time) noexcept {
  if (metadata.type() != data_type::vector)
    return false;
  for (const auto entry : metadata.elements()) {
    if (!is_vector_of(entry, 2))
      return false;
    auto part = entry.elements().begin();
    const auto id = *part++;
    const auto value = *part;
    if (id.type() != data_type::count)
      return false;
    if (id.as_count() != network_time_id)
      continue;
    if (value.type() != data_type::timestamp)
      return false;
    if (!network_time)
      network_time = value.as_timestamp();
  }
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
  if (content.size() > 2 && !read_metadata(*++element, parts.network_time))
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

bool read_metadata(const data& metadata, std::optional<timestamp>& network_time) noexcept {
  const auto* entries = metadata.get_if<vector>();
  if (entries == nullptr)
    return false;
  for (const auto& item : *entries) {
    const auto* entry = vector_of(item, 2);
    const auto* id = entry == nullptr ? nullptr : (*entry)[0].get_if<count>();
    if (id == nullptr)
      return false;
    if (*id != network_time_id)
      continue;
    const auto* value = (*entry)[1].get_if<timestamp>();
    if (value == nullptr)
      return false;
    if (!network_time)
      network_time = *value;
  }
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

data make_event(std::string name, vector args, std::optional<timestamp> network_time) {
  vector content;
  content.reserve(network_time ? 3 : 2);
  content.emplace_back(std::move(name));
  content.emplace_back(std::move(args));
  if (network_time) {
    vector metadata; // not vector{vector{...}}: compilers disagree whether that nests or copies
    metadata.emplace_back(vector{network_time_id, *network_time});
    content.emplace_back(std::move(metadata));
  }
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
  event result;
  if (name == nullptr || args == nullptr ||
      (content->size() > 2 && !read_metadata((*content)[2], result.network_time)))
    return not_an_event();
  result.name = *name;
  result.args = *args;
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
  result.network_time_ = parts->network_time;
  return result;
}

} // namespace pubsub::zeek
