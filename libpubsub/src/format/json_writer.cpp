#include <pubsub/format.hpp>

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

class json_writer {
public:
  explicit json_writer(std::string& out) : out_(out) {}

  template <class Value>
  void object(const Value& x) {
    out_ += '{';
    members_of(x);
    out_ += '}';
  }

  template <class Value>
  void members_of(const Value& x) {
    out_ += "\"@data-type\":\"";
    out_ += to_string(x.type());
    out_ += "\",\"data\":";
    body(x);
  }

  void string(std::string_view x) {
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

private:
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
  std::string out = "{\"type\":\"data-message\",\"topic\":";
  json_writer writer{out};
  writer.string(topic);
  out += ',';
  writer.members_of(x);
  out += '}';
  return out;
}

} // namespace pubsub
