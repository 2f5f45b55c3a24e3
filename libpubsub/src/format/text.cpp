#include "format/text.hpp"

#include "data/scalar_text.hpp"

#include <pubsub/data.hpp>

#include <charconv>

namespace pubsub {

namespace {

template <class T>
void append_integral(std::string& out, T x) {
  char buffer[24];
  out.append(buffer, std::to_chars(buffer, buffer + sizeof(buffer), x).ptr);
}

template <class T>
void append_scalar(std::string& out, const T& x) {
  char buffer[max_scalar_text_bytes];
  out.append(buffer, write_text(buffer, x));
}

void append_value(std::string& out, const data& x);

void append_members(std::string& out, const auto& members) {
  const char* separator = "";
  for (const auto& member : members) {
    out += separator;
    append_value(out, member);
    separator = ", ";
  }
}

void append_table(std::string& out, const table& pairs) {
  const char* separator = "";
  for (const auto& [key, value] : pairs) {
    out += separator;
    append_value(out, key);
    out += " -> ";
    append_value(out, value);
    separator = ", ";
  }
}

void append_nanoseconds(std::string& out, std::int64_t x) {
  append_number(out, x);
  out += "ns";
}

void append_bracketed(std::string& out, const data& x) {
  const bool round = x.type() == data_type::vector;
  out += round ? '(' : '{';
  if (const auto* members = x.get_if<vector>())
    append_members(out, *members);
  else if (const auto* unique = x.get_if<set>())
    append_members(out, *unique);
  else
    append_table(out, *x.get_if<table>());
  out += round ? ')' : '}';
}

void append_value(std::string& out, const data& x) {
  switch (x.type()) {
  case data_type::none:
    out += "nil";
    break;
  case data_type::boolean:
    out += *x.get_if<boolean>() ? 'T' : 'F';
    break;
  case data_type::count:
    append_number(out, *x.get_if<count>());
    break;
  case data_type::integer:
    append_number(out, *x.get_if<integer>());
    break;
  case data_type::real:
    append_real(out, *x.get_if<real>());
    break;
  case data_type::string:
    out += *x.get_if<std::string>();
    break;
  case data_type::address:
    append_text(out, *x.get_if<address>());
    break;
  case data_type::subnet:
    append_text(out, *x.get_if<subnet>());
    break;
  case data_type::port:
    append_text(out, *x.get_if<port>());
    break;
  case data_type::timestamp:
    append_nanoseconds(out, x.get_if<timestamp>()->time_since_epoch().count());
    break;
  case data_type::timespan:
    append_nanoseconds(out, x.get_if<timespan>()->count());
    break;
  case data_type::enum_value:
    out += x.get_if<enum_value>()->name();
    break;
  case data_type::set:
  case data_type::table:
  case data_type::vector:
    append_bracketed(out, x);
    break;
  }
}

} // namespace

void append_number(std::string& out, std::uint64_t x) {
  append_integral(out, x);
}

void append_number(std::string& out, std::int64_t x) {
  append_integral(out, x);
}

void append_real(std::string& out, double x) {
  char buffer[384]; // sign, 309 digits, point, six decimals
  const auto end =
      std::to_chars(buffer, buffer + sizeof(buffer), x, std::chars_format::fixed, 6).ptr;
  out.append(buffer, end);
}

void append_text(std::string& out, const address& x) {
  append_scalar(out, x);
}

void append_text(std::string& out, const subnet& x) {
  append_scalar(out, x);
}

void append_text(std::string& out, const port& x) {
  append_scalar(out, x);
}

std::string to_string(const data& x) {
  std::string out;
  append_value(out, x);
  return out;
}

} // namespace pubsub
