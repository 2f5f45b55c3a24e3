#include <pubsub/format.hpp>

#include "format/json_tolerant.hpp"
#include "format/text.hpp"

#include <algorithm>
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

// Turns parsed JSON into data. The first mismatch stops everything; the path to it is put together
// on the way out.
class reader {
public:
  reader(const decode_limits& limits, bool rewritten) noexcept
      : values_left_(limits.max_values), max_depth_(std::min(limits.max_depth, hard_max_depth)),
        rewritten_(rewritten) {}

  bool root(dom::element json, data& out) { return value(json, out, max_depth_); }

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

  bool value(dom::element json, data& out, std::uint32_t depth_left);
  bool content(std::string_view type, dom::element json, data& out, std::uint32_t depth_left);
  bool scalar(std::string_view type, dom::element json, data& out);
  bool real_value(dom::element json, data& out);
  bool string_value(std::string_view type, dom::element json, data& out);
  bool parsed_value(std::string_view type, const std::string& text, data& out);
  bool members(std::string_view type, dom::array json, data& out, std::uint32_t depth_left);
  bool pairs(dom::array json, data& out, std::uint32_t depth_left);

  template <class T>
  bool store(const std::optional<T>& x, data& out, std::string_view wanted) {
    if (!x)
      return clash(wanted);
    out = *x;
    return true;
  }

  std::uint32_t values_left_;
  std::uint32_t max_depth_;
  bool rewritten_;
  errc code_ = errc::none;
  std::string_view what_;
  std::string path_;
};

bool reader::value(dom::element json, data& out, std::uint32_t depth_left) {
  if (values_left_ == 0)
    return fail(errc::limit_exceeded, "more values than allowed");
  --values_left_;
  dom::object object;
  std::string_view type;
  if (json.get(object) != simdjson::SUCCESS)
    return clash("expected an object with @data-type and data");
  if (object["@data-type"].get(type) != simdjson::SUCCESS)
    return clash("expected a string member @data-type");
  if (type == "none") {
    out = none{};
    return true;
  }
  dom::element body;
  if (object["data"].get(body) != simdjson::SUCCESS)
    return clash("expected a member data");
  return inside("data", content(type, body, out, depth_left));
}

bool reader::content(std::string_view type, dom::element json, data& out,
                     std::uint32_t depth_left) {
  if (type != "vector" && type != "set" && type != "table")
    return scalar(type, json, out);
  dom::array array;
  if (json.get(array) != simdjson::SUCCESS)
    return clash("expected an array");
  if (depth_left == 0)
    return fail(errc::limit_exceeded, "deeper nesting than allowed");
  if (type == "table")
    return pairs(array, out, depth_left - 1);
  return members(type, array, out, depth_left - 1);
}

bool reader::scalar(std::string_view type, dom::element json, data& out) {
  if (type == "boolean") {
    bool x = false;
    if (json.get(x) != simdjson::SUCCESS)
      return clash("expected true or false");
    out = x;
    return true;
  }
  // The parser tells the spellings apart: a literal with a point or an exponent is no integer.
  if (type == "count") {
    std::uint64_t x = 0;
    if (json.get(x) != simdjson::SUCCESS)
      return clash("expected an integer literal from 0 to 2^64-1");
    out = x;
    return true;
  }
  if (type == "integer") {
    std::int64_t x = 0;
    if (json.get(x) != simdjson::SUCCESS)
      return clash("expected an integer literal of 64 bits");
    out = x;
    return true;
  }
  return type == "real" ? real_value(json, out) : string_value(type, json, out);
}

bool reader::real_value(dom::element json, data& out) {
  constexpr std::string_view wanted = "expected a number with a decimal point or an exponent";
  double x = 0;
  if (json.type() == dom::element_type::DOUBLE && json.get(x) == simdjson::SUCCESS) {
    out = x;
    return true;
  }
  std::string_view special;
  if (!rewritten_ || json.get(special) != simdjson::SUCCESS ||
      !special.starts_with(special_real_mark))
    return clash(wanted);
  special.remove_prefix(special_real_mark.size());
  const bool negative = special.starts_with('-');
  x = special.ends_with("nan") ? std::numeric_limits<double>::quiet_NaN()
                               : std::numeric_limits<double>::infinity();
  out = negative ? -x : x;
  return true;
}

bool reader::string_value(std::string_view type, dom::element json, data& out) {
  std::string_view raw;
  if (json.get(raw) != simdjson::SUCCESS || (rewritten_ && raw.starts_with(special_real_mark)))
    return clash("expected a string");
  auto bytes = text(raw);
  if (type == "string") {
    out = std::move(bytes);
    return true;
  }
  if (type == "enum-value") {
    out = enum_value{std::move(bytes)};
    return true;
  }
  return parsed_value(type, bytes, out);
}

bool reader::parsed_value(std::string_view type, const std::string& text, data& out) {
  if (type == "address") {
    const auto x = address::parse(text);
    if (!x)
      return clash("expected an IP address");
    out = *x;
    return true;
  }
  if (type == "subnet")
    return store(parse_lenient_subnet(text), out,
                 "expected an IP address, a slash and a prefix length");
  if (type == "port") {
    out = parse_lenient_port(text);
    return true;
  }
  if (type == "timestamp")
    return store(parse_iso_time(text), out, "expected a time like 2018-07-05T19:46:40.123");
  if (type == "timespan")
    return store(parse_span_with_unit(text), out,
                 "expected an integer and ns, us, ms, s, min or h");
  return clash("unknown @data-type");
}

bool reader::members(std::string_view type, dom::array json, data& out, std::uint32_t depth_left) {
  vector ordered;
  set unique;
  const bool is_set = type == "set";
  if (!is_set)
    ordered.reserve(std::min<std::size_t>(json.size(), values_left_));
  std::size_t index = 0;
  for (const auto member : json) {
    data x;
    if (!inside(std::to_string(index), value(member, x, depth_left)))
      return false;
    if (!is_set) {
      ordered.push_back(std::move(x));
    } else {
      const auto before = unique.size();
      unique.insert(unique.end(), std::move(x));
      if (unique.size() == before)
        return inside(std::to_string(index), fail(errc::duplicate_key, "set member occurs twice"));
    }
    ++index;
  }
  out = is_set ? data{std::move(unique)} : data{std::move(ordered)};
  return true;
}

bool reader::pairs(dom::array json, data& out, std::uint32_t depth_left) {
  table result;
  std::size_t index = 0;
  for (const auto pair : json) {
    dom::element key_json;
    dom::element value_json;
    dom::object object;
    const auto step = std::to_string(index++);
    if (pair.get(object) != simdjson::SUCCESS || object["key"].get(key_json) != simdjson::SUCCESS ||
        object["value"].get(value_json) != simdjson::SUCCESS)
      return inside(step, clash("expected an object with key and value"));
    data key;
    data mapped;
    if (!inside("key", value(key_json, key, depth_left)) ||
        !inside("value", value(value_json, mapped, depth_left)))
      return inside(step, false);
    if (!result.try_emplace(std::move(key), std::move(mapped)).second)
      return inside(step, fail(errc::duplicate_key, "table key occurs twice"));
  }
  out = std::move(result);
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
    const auto depth = std::min(limits.max_depth, hard_max_depth) + std::size_t{2};
    const auto capacity = std::max(text.size(), dom::MINIMAL_DOCUMENT_CAPACITY);
    const auto code = parser_.allocate(capacity, json_levels_per_value * depth);
    return code != simdjson::SUCCESS ? code : parser_.parse(text.data(), text.size()).get(root_);
  }

  dom::parser parser_;
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

expected<topic_and_data> message_from_json(std::string_view text, const decode_limits& limits) {
  document json;
  const auto root = json.parse(text, limits);
  if (!root)
    return root.error();
  reader in{limits, json.rewritten()};
  topic_and_data result{"<$>", {}};
  dom::object object;
  std::string_view name;
  if (root->get(object) == simdjson::SUCCESS && object["topic"].get(name) == simdjson::SUCCESS &&
      !(json.rewritten() && name.starts_with(special_real_mark)))
    result.topic = in.text(name);
  if (!in.root(*root, result.value))
    return in.failure();
  return result;
}

} // namespace pubsub
