// SPDX-License-Identifier: BSD-3-Clause
#include <pubsub/format.hpp>

#include "format/json_messages.hpp"
#include "format/json_tolerant.hpp"
#include "format/text.hpp"

#include <pubsub/data_writer.hpp>

#include <algorithm>
#include <concepts>
#include <limits>
#include <optional>

#include <simdjson.h>

namespace pubsub {

namespace {

namespace dom = simdjson::dom;

// Reading recurses once per level of nesting; no setting may make that overflow the stack.
constexpr std::uint32_t hard_max_depth = 512;
// A table pair nests an object, the array of pairs and the pair.
constexpr std::size_t json_levels_per_value = 3;

// Names differ in size or else in their first byte or two, so that one comparison decides.
std::optional<data_type> type_named(std::string_view name) noexcept {
  const auto if_named = [name](data_type type, std::string_view its_name) {
    return name == its_name ? std::optional{type} : std::nullopt;
  };
  switch (name.size()) {
  case 3:
    return if_named(data_type::set, "set");
  case 4:
    if (name[0] == 'n')
      return if_named(data_type::none, "none");
    return name[0] == 'p' ? if_named(data_type::port, "port") : if_named(data_type::real, "real");
  case 5:
    return name[0] == 'c' ? if_named(data_type::count, "count")
                          : if_named(data_type::table, "table");
  case 6:
    if (name[0] == 'v')
      return if_named(data_type::vector, "vector");
    return name[1] == 't' ? if_named(data_type::string, "string")
                          : if_named(data_type::subnet, "subnet");
  case 7:
    if (name[0] == 'a')
      return if_named(data_type::address, "address");
    return name[0] == 'b' ? if_named(data_type::boolean, "boolean")
                          : if_named(data_type::integer, "integer");
  case 8:
    return if_named(data_type::timespan, "timespan");
  case 9:
    return if_named(data_type::timestamp, "timestamp");
  case 10:
    return if_named(data_type::enum_value, "enum-value");
  default:
    return std::nullopt;
  }
}

auto into(data& out) {
  return [&out](auto x) {
    out = std::move(x);
    return true;
  };
}

/// Writes what is read as encoded bytes.
struct into_bytes {
  data_writer& out;

  bool operator()(none) const { return out.write_none(), true; }
  bool operator()(boolean x) const { return out.write_boolean(x), true; }
  bool operator()(count x) const { return out.write_count(x), true; }
  bool operator()(integer x) const { return out.write_integer(x), true; }
  bool operator()(real x) const { return out.write_real(x), true; }
  bool operator()(std::string_view x) const { return out.write_string(x), true; }
  bool operator()(const address& x) const { return out.write_address(x), true; }
  bool operator()(const subnet& x) const { return out.write_subnet(x), true; }
  bool operator()(const port& x) const { return out.write_port(x), true; }
  bool operator()(timestamp x) const { return out.write_timestamp(x), true; }
  bool operator()(timespan x) const { return out.write_timespan(x), true; }
  bool operator()(const enum_value& x) const { return out.write_enum(x.name()), true; }
};

// Turns parsed JSON into data. The first mismatch stops everything; the path to it is put together
// on the way out.
class reader {
public:
  reader(const decode_limits& limits, bool rewritten) noexcept
      : values_left_(limits.max_values), max_depth_(std::min(limits.max_depth, hard_max_depth)),
        rewritten_(rewritten) {}

  bool root(dom::element json, data& out);
  /// The same as encoded bytes. False also where `has_unordered` says why: members of a set or
  /// pairs of a table have to be brought in order first, for which there is no way but the tree.
  bool root(dom::element json, data_writer& out);
  bool has_unordered() const noexcept { return has_unordered_; }

  std::string text(std::string_view raw) const {
    return rewritten_ ? bytes_from_latin1(raw) : std::string{raw};
  }

  pubsub::error failure() const {
    return {code_, (path_.empty() ? "/" : path_) + ": " + std::string{what_}};
  }

private:
  bool fail(errc code, std::string_view what) {
    code_ = code;
    what_ = what;
    return false;
  }
  bool clash(std::string_view what) { return fail(errc::type_clash, what); }

  bool inside(std::string_view step, bool ok) {
    if (!ok) {
      path_.insert(0, step);
      path_.insert(0, 1, '/');
    }
    return ok;
  }
  bool inside(std::size_t index, bool ok) { return ok || inside(std::to_string(index), false); }

  // Each hands what it has read, in the type it has, to `take`, which returns true: vectors build
  // their members in place, as moving one costs as much as reading it.
  template <class Take>
  bool value(dom::element json, std::uint32_t depth_left, Take take);
  template <class Take>
  bool content(data_type type, dom::element json, std::uint32_t depth_left, Take take);
  template <class Take>
  bool text_content(data_type type, dom::element json, Take take);
  template <class T, class Take>
  bool plain(dom::element json, std::string_view wanted, Take take) {
    T x{};
    return json.get(x) == simdjson::SUCCESS ? take(x) : clash(wanted);
  }
  template <class T, class Take>
  bool members_of(dom::element json, std::uint32_t depth_left, Take take);
  template <class T, class Take>
  bool parsed(const T& x, std::string_view wanted, Take take) {
    return x ? take(*x) : clash(wanted);
  }

  bool real_value(dom::element json, double& out);
  template <class T>
  bool encode(dom::array json, std::uint32_t depth_left, into_bytes take);
  bool read(dom::array json, std::uint32_t depth_left, vector& out);
  bool read(dom::array json, std::uint32_t depth_left, set& out);
  bool read(dom::array json, std::uint32_t depth_left, table& out);

  std::uint32_t values_left_;
  std::uint32_t max_depth_;
  bool rewritten_;
  bool has_unordered_ = false;
  errc code_ = errc::none;
  std::string_view what_;
  std::string path_;
};

template <class Take>
bool reader::value(dom::element json, std::uint32_t depth_left, Take take) {
  if (values_left_ == 0)
    return fail(errc::limit_exceeded, "more values than allowed");
  --values_left_;
  dom::object object;
  if (json.get(object) != simdjson::SUCCESS)
    return clash("expected an object with @data-type and data");
  std::optional<dom::element> type;
  std::optional<dom::element> body;
  for (const auto [name, member] : object) { // the first of each name counts
    if (!type && name == "@data-type")
      type = member;
    else if (!body && name == "data")
      body = member;
    if (type && body)
      break;
  }
  std::string_view type_name;
  if (!type || type->get(type_name) != simdjson::SUCCESS)
    return clash("expected a string member @data-type");
  const auto named = type_named(type_name);
  if (named == data_type::none)
    return take(none{});
  if (!body)
    return clash("expected a member data");
  return inside("data",
                named ? content(*named, *body, depth_left, take) : clash("unknown @data-type"));
}

bool reader::root(dom::element json, data& out) {
  return value(json, max_depth_, into(out));
}

bool reader::root(dom::element json, data_writer& out) {
  return value(json, max_depth_, into_bytes{out});
}

template <class Take>
bool reader::content(data_type type, dom::element json, std::uint32_t depth_left, Take take) {
  switch (type) {
  case data_type::none:
    return take(none{});
  case data_type::boolean:
    return plain<bool>(json, "expected true or false", take);
  // The parser distinguishes the spellings: a literal with a point or an exponent is no integer.
  case data_type::count:
    return plain<count>(json, "expected an integer literal from 0 to 2^64-1", take);
  case data_type::integer:
    return plain<integer>(json, "expected an integer literal of 64 bits", take);
  case data_type::real: {
    double x = 0;
    return real_value(json, x) && take(x);
  }
  case data_type::set:
    return members_of<set>(json, depth_left, take);
  case data_type::table:
    return members_of<table>(json, depth_left, take);
  case data_type::vector:
    return members_of<vector>(json, depth_left, take);
  default:
    return text_content(type, json, take);
  }
}

bool reader::real_value(dom::element json, double& out) {
  constexpr std::string_view wanted = "expected a number with a decimal point or an exponent";
  if (json.type() == dom::element_type::DOUBLE && json.get(out) == simdjson::SUCCESS)
    return true;
  std::string_view special;
  if (!rewritten_ || json.get(special) != simdjson::SUCCESS ||
      !special.starts_with(special_real_mark))
    return clash(wanted);
  special.remove_prefix(special_real_mark.size());
  const bool negative = special.starts_with('-');
  out = special.ends_with("nan") ? std::numeric_limits<double>::quiet_NaN()
                                 : std::numeric_limits<double>::infinity();
  if (negative)
    out = -out;
  return true;
}

/// The types that JSON has as strings.
template <class Take>
bool reader::text_content(data_type type, dom::element json, Take take) {
  std::string_view text;
  if (json.get(text) != simdjson::SUCCESS || (rewritten_ && text.starts_with(special_real_mark)))
    return clash("expected a string");
  std::string bytes;
  if (rewritten_)
    text = bytes = bytes_from_latin1(text);
  switch (type) {
  case data_type::address:
    return parsed(address::parse(text), "expected an IP address", take);
  case data_type::subnet:
    return parsed(parse_lenient_subnet(text), "expected an IP address, a slash and a prefix length",
                  take);
  case data_type::port:
    return take(parse_lenient_port(text));
  case data_type::timestamp:
    return parsed(parse_iso_time(text), "expected a time like 2018-07-05T19:46:40.123", take);
  case data_type::timespan:
    return parsed(parse_span_with_unit(text), "expected an integer and ns, us, ms, s, min or h",
                  take);
  case data_type::enum_value:
    return take(enum_value{std::string{text}});
  default:
    return take(text);
  }
}

template <class T, class Take>
bool reader::members_of(dom::element json, std::uint32_t depth_left, Take take) {
  dom::array array;
  if (json.get(array) != simdjson::SUCCESS)
    return clash("expected an array");
  if (depth_left == 0)
    return fail(errc::limit_exceeded, "deeper nesting than allowed");
  if constexpr (std::same_as<Take, into_bytes>) {
    return encode<T>(array, depth_left - 1, take);
  } else {
    T result;
    return read(array, depth_left - 1, result) && take(std::move(result));
  }
}

template <class T>
bool reader::encode(dom::array json, std::uint32_t depth_left, into_bytes take) {
  std::size_t members = 0; // the parser's own number has an upper end
  for ([[maybe_unused]] const auto member : json)
    ++members;
  has_unordered_ = members > (std::same_as<T, set> ? 1 : 0) && !std::same_as<T, vector>;
  if (has_unordered_)
    return false;
  if constexpr (std::same_as<T, vector>)
    take.out.begin_vector(members);
  else if constexpr (std::same_as<T, set>)
    take.out.begin_set(members);
  else
    take.out.begin_table(members);
  std::size_t index = 0;
  for (const auto member : json)
    if (!inside(index++, value(member, depth_left, take)))
      return false;
  return true;
}

bool reader::read(dom::array json, std::uint32_t depth_left, vector& out) {
  out.reserve(std::min<std::size_t>(json.size(), values_left_));
  const auto append = [&out](auto x) {
    out.emplace_back(std::move(x));
    return true;
  };
  for (const auto member : json)
    if (!value(member, depth_left, append))
      return inside(out.size(), false);
  return true;
}

bool reader::read(dom::array json, std::uint32_t depth_left, set& out) {
  for (const auto member : json) {
    const auto index = out.size();
    data x;
    if (!inside(index, value(member, depth_left, into(x))))
      return false;
    out.insert(out.end(), std::move(x));
    if (out.size() == index)
      return inside(index, fail(errc::duplicate_key, "set member occurs twice"));
  }
  return true;
}

bool reader::read(dom::array json, std::uint32_t depth_left, table& out) {
  for (const auto pair : json) {
    const auto index = out.size();
    dom::element key_json;
    dom::element value_json;
    dom::object object;
    if (pair.get(object) != simdjson::SUCCESS || object["key"].get(key_json) != simdjson::SUCCESS ||
        object["value"].get(value_json) != simdjson::SUCCESS)
      return inside(index, clash("expected an object with key and value"));
    data key;
    data mapped;
    if (!inside("key", value(key_json, depth_left, into(key))) ||
        !inside("value", value(value_json, depth_left, into(mapped))))
      return inside(index, false);
    if (!out.try_emplace(std::move(key), std::move(mapped)).second)
      return inside(index, fail(errc::duplicate_key, "table key occurs twice"));
  }
  return true;
}

// Parsed text and what its elements point into. Strict JSON takes the short way; only where that
// fails the text is rewritten and parsed again.
class document {
public:
  expected<dom::element> parse(std::string_view text, const decode_limits& limits) {
    if (text.empty()) // may have no address, which the parser copies from
      return error{errc::invalid_json, "empty text"};
    auto code = parse_strict(text, limits);
    if (code == simdjson::SUCCESS)
      return root_;
    if (code == simdjson::CAPACITY || code == simdjson::DEPTH_ERROR)
      return error{errc::limit_exceeded, simdjson::error_message(code)};
    if (const auto strict = strict_json_from(text)) {
      rewritten_ = true;
      code = parse_strict(*strict, limits);
    }
    if (code == simdjson::SUCCESS)
      return root_;
    const bool limit = code == simdjson::CAPACITY || code == simdjson::DEPTH_ERROR;
    return error{limit ? errc::limit_exceeded : errc::invalid_json, simdjson::error_message(code)};
  }

  bool rewritten() const noexcept { return rewritten_; }

private:
  simdjson::error_code parse_strict(std::string_view text, const decode_limits& limits) {
    const auto levels = std::min(limits.max_depth, hard_max_depth) + std::size_t{2};
    const auto depth = json_levels_per_value * levels;
    const auto capacity = std::max(text.size(), dom::MINIMAL_DOCUMENT_CAPACITY);
    auto& parser = capacity <= max_kept_bytes ? kept_parser() : own_parser_;
    if (parser.capacity() < capacity || parser.max_depth() != depth)
      if (const auto code = parser.allocate(capacity, depth); code != simdjson::SUCCESS)
        return code;
    return parser.parse(text.data(), text.size()).get(root_);
  }

  /// Each thread keeps a parser for short texts: to make its buffers, some 16 times the text, takes
  /// a fifth of the time that reading one does. It is not used otherwise while this document lives.
  static dom::parser& kept_parser() {
    static thread_local dom::parser parser;
    return parser;
  }
  static constexpr std::size_t max_kept_bytes = 8192;

  dom::parser own_parser_;
  dom::element root_;
  bool rewritten_ = false;
};

} // namespace

expected<data> from_json(std::string_view text, const decode_limits& limits) {
  document json;
  const auto root = json.parse(text, limits);
  if (!root)
    return root.error();
  reader in{limits, json.rewritten()};
  data value;
  if (!in.root(*root, value))
    return in.failure();
  return value;
}

namespace {

/// The topic of a message; `<$>` if it has none.
std::string topic_of(dom::element message, const reader& in, bool rewritten) {
  dom::object object;
  std::string_view name;
  if (message.get(object) == simdjson::SUCCESS && object["topic"].get(name) == simdjson::SUCCESS &&
      !(rewritten && name.starts_with(special_real_mark)))
    return in.text(name);
  return "<$>";
}

} // namespace

expected<topic_and_data> message_from_json(std::string_view text, const decode_limits& limits) {
  document json;
  const auto root = json.parse(text, limits);
  if (!root)
    return root.error();
  reader in{limits, json.rewritten()};
  topic_and_data result{topic_of(*root, in, json.rewritten()), {}};
  if (!in.root(*root, result.value))
    return in.failure();
  return result;
}

expected<void> encode_json_message(std::string_view text, std::string& topic, data_writer& value,
                                   const decode_limits& limits) {
  document json;
  const auto root = json.parse(text, limits);
  if (!root)
    return root.error();
  reader in{limits, json.rewritten()};
  topic = topic_of(*root, in, json.rewritten());
  value.clear();
  if (in.root(*root, value))
    return {};
  if (!in.has_unordered())
    return in.failure();
  reader again{limits, json.rewritten()};
  data tree;
  if (!again.root(*root, tree))
    return again.failure();
  value.clear();
  value.write(tree);
  return {};
}

} // namespace pubsub
