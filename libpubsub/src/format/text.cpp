// SPDX-License-Identifier: BSD-3-Clause
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

void append_member(std::string& out, const data& x);
void append_member(std::string& out, const table::value_type& x);

struct value_text {
  std::string& out;

  void operator()(none) const { out += "nil"; }
  void operator()(boolean x) const { out += x ? 'T' : 'F'; }
  void operator()(count x) const { append_number(out, x); }
  void operator()(integer x) const { append_number(out, x); }
  void operator()(real x) const { append_real(out, x); }
  void operator()(const std::string& x) const { out += x; }
  void operator()(const enum_value& x) const { out += x.name(); }
  void operator()(timestamp x) const { (*this)(x.time_since_epoch()); }
  void operator()(timespan x) const {
    append_number(out, x.count());
    out += "ns";
  }
  void operator()(const vector& x) const { bracketed('(', x, ')'); }
  void operator()(const set& x) const { bracketed('{', x, '}'); }
  void operator()(const table& x) const { bracketed('{', x, '}'); }
  void operator()(const auto& x) const { append_text(out, x); }

private:
  void bracketed(char open, const auto& members, char close) const {
    out += open;
    const char* separator = "";
    for (const auto& member : members) {
      out += separator;
      append_member(out, member);
      separator = ", ";
    }
    out += close;
  }
};

void append_member(std::string& out, const data& x) {
  std::visit(value_text{out}, x.variant());
}

void append_member(std::string& out, const table::value_type& x) {
  append_member(out, x.first);
  out += " -> ";
  append_member(out, x.second);
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
  append_member(out, x);
  return out;
}

} // namespace pubsub
