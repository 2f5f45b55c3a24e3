// SPDX-License-Identifier: BSD-3-Clause
#include <pubsub/format.hpp>

#include "format/json_members.hpp"
#include "format/json_messages.hpp"
#include "format/text.hpp"

#include <array>

namespace pubsub {

namespace {

// The letter behind the backslash for the eight bytes Broker escapes, zero for all others.
constexpr auto escape_letters = [] {
  std::array<char, 256> letters{};
  letters['\\'] = '\\';
  letters['"'] = '"';
  letters['\b'] = 'b';
  letters['\f'] = 'f';
  letters['\n'] = 'n';
  letters['\r'] = 'r';
  letters['\t'] = 't';
  letters['\v'] = 'v';
  return letters;
}();

/// What is in front of a value of each type in an object: most of the text of a message is this.
constexpr std::array<std::string_view, 15> object_heads = {
    R"({"@data-type":"none","data":)",     R"({"@data-type":"boolean","data":)",
    R"({"@data-type":"count","data":)",    R"({"@data-type":"integer","data":)",
    R"({"@data-type":"real","data":)",     R"({"@data-type":"string","data":)",
    R"({"@data-type":"address","data":)",  R"({"@data-type":"subnet","data":)",
    R"({"@data-type":"port","data":)",     R"({"@data-type":"timestamp","data":)",
    R"({"@data-type":"timespan","data":)", R"({"@data-type":"enum-value","data":)",
    R"({"@data-type":"set","data":)",      R"({"@data-type":"table","data":)",
    R"({"@data-type":"vector","data":)"};

class json_writer {
public:
  explicit json_writer(std::string& out, json_strings how = json_strings::bytes)
      : out_(out), how_(how) {}

  template <class Value>
  void message(std::string_view topic, const Value& x) {
    out_ += "{\"type\":\"data-message\",\"topic\":";
    string(topic);
    out_ += ',';
    members_of(x);
    out_ += '}';
  }

  template <class Value>
  void object(const Value& x) {
    out_ += object_heads[static_cast<std::size_t>(x.type())];
    body(x);
    out_ += '}';
  }

  template <class Value>
  void members_of(const Value& x) {
    out_ += object_heads[static_cast<std::size_t>(x.type())].substr(1);
    body(x);
  }

private:
  void string(std::string_view x) {
    if (how_ == json_strings::utf8)
      return append_json_string(out_, x);
    out_ += '"';
    auto plain = x.begin();
    for (auto i = x.begin(); i != x.end(); ++i) {
      const char letter = escape_letters[static_cast<unsigned char>(*i)];
      if (letter == 0)
        continue;
      out_.append(plain, i);
      out_ += '\\';
      out_ += letter;
      plain = i + 1;
    }
    out_.append(plain, x.end());
    out_ += '"';
  }

  void put(none) { out_ += "{}"; }
  void put(boolean x) { out_ += x ? "true" : "false"; }
  void put(count x) { append_number(out_, x); }
  void put(integer x) { append_number(out_, x); }
  void put(real x) { append_real(out_, x); }
  void put(const std::string& x) { string(x); }
  void put(const enum_value& x) { string(x.name()); }

  template <class T>
  void put_quoted(const T& x) {
    out_ += '"';
    append_text(out_, x);
    out_ += '"';
  }
  void put(const address& x) { put_quoted(x); }
  void put(const subnet& x) { put_quoted(x); }
  void put(const port& x) { put_quoted(x); }

  void put(timestamp x) {
    out_ += '"';
    append_iso_time(out_, x);
    out_ += '"';
  }
  void put(timespan x) {
    out_ += '"';
    append_span_with_unit(out_, x);
    out_ += '"';
  }
  void put(const set& x) { array(x); }
  void put(const vector& x) { array(x); }
  void put(const table& x) { pairs(x); }

  void array(const auto& members) {
    out_ += '[';
    bool first = true;
    for (const auto& member : members) {
      if (!first)
        out_ += ',';
      first = false;
      object(member);
    }
    out_ += ']';
  }

  void pairs(const auto& entries) {
    out_ += '[';
    bool first = true;
    for (const auto& [key, value] : entries) {
      out_ += first ? "{\"key\":" : ",{\"key\":";
      first = false;
      object(key);
      out_ += ",\"value\":";
      object(value);
      out_ += '}';
    }
    out_ += ']';
  }

  void body(const data& x) {
    std::visit([this](const auto& content) { put(content); }, x.variant());
  }
  void body(const data_view& x);

  std::string& out_;
  const json_strings how_;
};

void json_writer::body(const data_view& x) {
  switch (x.type()) {
  case data_type::none:
    return put(none{});
  case data_type::boolean:
    return put(x.as_boolean());
  case data_type::count:
    return put(x.as_count());
  case data_type::integer:
    return put(x.as_integer());
  case data_type::real:
    return put(x.as_real());
  case data_type::string:
    return string(x.as_string());
  case data_type::address:
    return put(x.as_address());
  case data_type::subnet:
    return put(x.as_subnet());
  case data_type::port:
    return put(x.as_port());
  case data_type::timestamp:
    return put(x.as_timestamp());
  case data_type::timespan:
    return put(x.as_timespan());
  case data_type::enum_value:
    return string(x.as_enum());
  case data_type::set:
  case data_type::vector:
    return array(x.elements());
  case data_type::table:
    return pairs(x.entries());
  }
}

} // namespace

std::string to_json(const data& x) {
  std::string out;
  json_writer{out}.object(x);
  return out;
}

std::string to_json(const data_view& x) {
  std::string out;
  json_writer{out}.object(x);
  return out;
}

std::string to_json(std::string_view topic, const data_view& x) {
  std::string out;
  json_writer{out}.message(topic, x);
  return out;
}

void append_json_message(std::string& out, std::string_view topic, const data_view& x,
                         json_strings form) {
  json_writer{out, form}.message(topic, x);
}

} // namespace pubsub
