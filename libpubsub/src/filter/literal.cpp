// SPDX-License-Identifier: BSD-3-Clause
#include "filter/literal.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "format/text.hpp"

namespace pubsub::conditions {

namespace {

constexpr std::array<std::string_view, 9> reserved{"and",    "or", "not",  "in",   "has",
                                                   "exists", "by", "true", "false"};

bool is_word_sign(char c) noexcept {
  return is_letter(c) || is_digit(c);
}

/// Whether the sign at the cursor belongs to the word of a literal that began at `first`.
bool goes_on(const text_cursor& in, std::size_t first) noexcept {
  const auto so_far = in.from(first);
  const char next = in.peek(1);
  switch (in.peek()) {
  case ':':
    return true;
  case '.':
    return next != '.';
  case '/':
    return is_word_sign(next) || next == '?';
  case '?':
    return so_far.ends_with('/');
  case '-': // of a date, or of an exponent
    return is_digit(next) && (so_far.size() == 4 || so_far.size() == 7 || so_far.ends_with('e')) &&
           is_digit(so_far.front());
  case '+':
    return is_digit(next) && so_far.ends_with('e') && is_digit(so_far.front());
  default:
    return is_word_sign(in.peek());
  }
}

/// Everything up to the next sign that cannot be part of a literal.
std::string_view take_literal_word(text_cursor& in) noexcept {
  const auto first = in.position();
  if (in.peek() == '-')
    in.advance();
  const auto begin = in.position();
  while (!in.at_end() && goes_on(in, begin))
    in.advance();
  return in.from(first);
}

template <class T>
bool parse_whole(std::string_view word, T& out) noexcept {
  const auto [end, code] = std::from_chars(word.data(), word.data() + word.size(), out);
  return code == std::errc{} && end == word.data() + word.size();
}

bool is_whole(std::string_view word) noexcept {
  if (word.starts_with('-'))
    word.remove_prefix(1);
  return !word.empty() && std::ranges::all_of(word, is_digit);
}

bool parse_number(std::string_view word, data& out) {
  std::uint64_t natural = 0;
  std::int64_t whole = 0;
  if (is_whole(word)) {
    if (parse_whole(word, natural))
      out = natural;
    else if (parse_whole(word, whole))
      out = whole == 0 ? data{count{0}} : data{whole};
    else
      return false;
    return true;
  }
  double fraction = 0;
  if (!parse_whole(word, fraction) || !std::isfinite(fraction))
    return false;
  out = fraction == 0 ? 0.0 : fraction; // the zero without a sign
  return true;
}

template <class T>
bool keep(const expected<T>& parsed, data& out) {
  if (parsed)
    out = *parsed;
  return parsed.has_value();
}

bool parse_with_slash(std::string_view word, std::size_t slash, data& out) {
  if (slash + 1 < word.size() && is_digit(word[slash + 1]))
    return keep(subnet::parse(word), out);
  return keep(port::parse(word), out);
}

bool parse_time(std::string_view word, data& out) {
  constexpr std::string_view date_form = "YYYY-MM-DD";
  auto text = std::string{word};
  if (word.size() == date_form.size())
    text += "T00:00:00";
  const auto parsed = parse_iso_time(text);
  if (!parsed || parsed->time_since_epoch().count() < 0)
    return false;
  out = *parsed;
  return true;
}

/// Something that begins with a digit, a sign or a colon.
bool parse_word(std::string_view word, data& out) {
  if (word.size() >= 10 && is_digit(word[0]) && word[4] == '-' && word[7] == '-')
    return parse_time(word, out);
  if (const auto slash = word.find('/'); slash != std::string_view::npos)
    return parse_with_slash(word, slash, out);
  if (word.find(':') != std::string_view::npos || std::ranges::count(word, '.') == 3)
    return keep(address::parse(word), out);
  if (parse_number(word, out))
    return true;
  if (const auto span = parse_span_with_unit(word)) {
    out = *span;
    return true;
  }
  return false;
}

/// A word that begins with a letter: `true`, `false`, an IPv6 address or subnet, or a label.
bool parse_letters(std::string_view word, data& out) {
  if (word == "true" || word == "false") {
    out = word == "true";
    return true;
  }
  if (is_reserved(word))
    return false;
  if (word.find(':') != std::string_view::npos) {
    const bool network = word.find('/') != std::string_view::npos;
    if (network ? keep(subnet::parse(word), out) : keep(address::parse(word), out))
      return true;
  }
  if (!std::ranges::all_of(word, [](char c) { return is_word_sign(c) || c == ':'; }))
    return false;
  out = enum_value{std::string{word}};
  return true;
}

bool is_bare_label(std::string_view name) {
  data parsed;
  return !name.empty() && is_letter(name.front()) && parse_letters(name, parsed) &&
         parsed == data{enum_value{std::string{name}}};
}

bool is_bare_name(std::string_view name) noexcept {
  if (name.empty() || !is_letter(name.front()) || name.ends_with('.') || is_reserved(name) ||
      name.find("..") != std::string_view::npos)
    return false;
  return std::ranges::all_of(name, [](char c) { return is_word_sign(c) || c == '.'; });
}

int hex_value(char c) noexcept {
  if (is_digit(c))
    return c - '0';
  if (c >= 'a' && c <= 'f')
    return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/// Behind a backslash.
bool read_escape(text_cursor& in, std::string& out) {
  const auto first = in.position() - 1;
  const char c = in.peek();
  constexpr std::string_view names = "nrt\\\"`";
  constexpr std::string_view values = "\n\r\t\\\"`";
  if (const auto known = names.find(c); c != '\0' && known != std::string_view::npos) {
    out += values[known];
    in.advance();
    return true;
  }
  const int high = hex_value(in.peek(1));
  const int low = hex_value(in.peek(2));
  if (c != 'x' || high < 0 || low < 0)
    return in.fail(R"(behind a backslash comes n, r, t, a quote, another backslash, or x and two )"
                   "hexadecimal digits",
                   {first, 2});
  out += static_cast<char>(16 * high + low);
  in.advance(3);
  return true;
}

void append_real_literal(std::string& out, double x) {
  char buffer[32];
  const std::string_view text{buffer, std::to_chars(buffer, buffer + sizeof(buffer), x).ptr};
  out += text;
  if (text.find_first_of(".e") == std::string_view::npos)
    out += ".0";
}

/// ISO time with as many digits as it takes.
void append_time_literal(std::string& out, timestamp x) {
  constexpr std::int64_t ns_per_second = 1'000'000'000;
  append_iso_time(out, x);
  out.resize(out.size() - 4); // the milliseconds
  auto fraction = x.time_since_epoch().count() % ns_per_second;
  if (fraction > 0) {
    auto digits = std::to_string(ns_per_second + fraction);
    digits[0] = '.';
    out += digits.substr(0, digits.find_last_not_of('0') + 1);
  }
  out += 'Z';
}

struct literal_writer {
  std::string& out;

  void operator()(boolean x) const { out += x ? "true" : "false"; }
  void operator()(count x) const { append_number(out, x); }
  void operator()(integer x) const { out += std::to_string(x); }
  void operator()(real x) const { append_real_literal(out, x); }
  void operator()(const std::string& x) const { append_quoted(out, x, '"'); }
  void operator()(const enum_value& x) const {
    if (is_bare_label(x.name()))
      out += x.name();
    else
      append_quoted(out, x.name(), '`');
  }
  void operator()(const address& x) const { out += to_string(x); }
  void operator()(const subnet& x) const { out += to_string(x); }
  void operator()(port x) const { out += to_string(x); }
  void operator()(timestamp x) const { append_time_literal(out, x); }
  void operator()(timespan x) const { append_span_with_unit(out, x); }
  void operator()(const auto&) const { out += "none"; } // a literal is no container
};

} // namespace

bool is_reserved(std::string_view word) noexcept {
  return std::ranges::find(reserved, word) != reserved.end();
}

bool read_quoted(text_cursor& in, char quote, std::string& out) {
  const auto first = in.position();
  in.advance();
  out.clear();
  while (in.peek() != quote || in.at_end()) {
    if (in.at_end())
      return in.fail("the quote is not closed", {first, 1});
    const char c = in.peek();
    in.advance();
    if (c != '\\')
      out += c;
    else if (!read_escape(in, out))
      return false;
  }
  in.advance();
  return true;
}

bool read_expression(text_cursor& in, std::string& out) {
  const auto first = in.position();
  in.advance();
  out.clear();
  while (in.peek() != '/' || in.at_end()) {
    if (in.at_end())
      return in.fail("the regular expression is not closed by a slash", {first, 1});
    if (in.peek() == '\\' && in.position() + 1 < in.text().size()) {
      if (in.peek(1) != '/')
        out += '\\';
      in.advance();
    }
    out += in.peek();
    in.advance();
  }
  in.advance();
  return true;
}

bool read_literal(text_cursor& in, data& out, text_place& place) {
  in.skip_blanks();
  place = {in.position(), 1};
  const char c = in.peek();
  if (c == '"' || c == '`') {
    std::string text;
    if (!read_quoted(in, c, text))
      return false;
    place.size = in.position() - place.first;
    out = c == '"' ? data{std::move(text)} : data{enum_value{std::move(text)}};
    return true;
  }
  if (!is_word_sign(c) && c != ':' && c != '-')
    return in.fail("a value is expected here", place);
  const auto word = take_literal_word(in);
  place.size = std::max<std::size_t>(word.size(), 1);
  const bool understood = is_letter(c) ? parse_letters(word, out) : parse_word(word, out);
  if (!understood)
    return in.fail("this is no value: a number, \"text\", an address, a subnet, a port such as "
                   "443/tcp, a time such as 2026-01-31T12:00:00Z, a length of time such as 5s, "
                   "true, false, or the label of an enum",
                   place);
  return true;
}

bool read_name(text_cursor& in, std::string& out) {
  in.skip_blanks();
  const auto first = in.position();
  if (in.peek() == '`') {
    if (!read_quoted(in, '`', out))
      return false;
    return !out.empty() || in.fail("a column has a name", {first, 2});
  }
  while (is_word_sign(in.peek()) || (in.peek() == '.' && is_word_sign(in.peek(1))))
    in.advance();
  out = in.from(first);
  return is_bare_name(out) || in.fail("the name of a column is expected here",
                                      {first, std::max<std::size_t>(out.size(), 1)});
}

void append_literal(std::string& out, const data& x) {
  std::visit(literal_writer{out}, x.variant());
}

void append_quoted(std::string& out, std::string_view text, char quote) {
  constexpr std::string_view digits = "0123456789abcdef";
  out += quote;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == quote || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < ' ' || byte > '~') {
      out += "\\x";
      out += digits[byte >> 4U];
      out += digits[byte & 15U];
    } else {
      out += c;
    }
  }
  out += quote;
}

void append_expression(std::string& out, std::string_view text) {
  out += '/';
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size())
      out += text[i++];
    else if (text[i] == '/')
      out += '\\';
    out += text[i];
  }
  out += '/';
}

void append_name(std::string& out, std::string_view name) {
  if (is_bare_name(name))
    out += name;
  else
    append_quoted(out, name, '`');
}

} // namespace pubsub::conditions
