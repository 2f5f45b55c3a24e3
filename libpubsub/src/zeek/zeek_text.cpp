// SPDX-License-Identifier: BSD-3-Clause
#include "zeek/zeek_text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <ctime>

namespace pubsub::zeek {

namespace {

constexpr int digits_behind_point = 6;
constexpr std::size_t longest_fixed = 330; // a sign, 309 digits, a point, six digits

/// Control characters for which JSON has a letter, and those letters.
constexpr std::string_view json_controls = "\b\f\n\r\t";
constexpr std::string_view json_letters = "bfnrt";

bool is_printable_ascii(char c) {
  return c >= ' ' && c < 0x7f;
}

void add_byte(std::string& out, char c) {
  constexpr std::string_view digits = "0123456789abcdef";
  const auto byte = static_cast<unsigned char>(c);
  out += "\\x";
  out += digits[byte >> 4U];
  out += digits[byte & 15U];
}

std::string_view fixed(std::array<char, longest_fixed>& text, double x) {
  const auto [end, failed] = std::to_chars(text.data(), text.data() + text.size(), x,
                                           std::chars_format::fixed, digits_behind_point);
  return {text.data(), static_cast<std::size_t>(end - text.data())};
}

/// Controls of Latin-1, characters for private use, and specials: Zeek shows their bytes.
bool is_hidden(char32_t c) {
  return (c >= 0x80 && c <= 0x9f) || (c >= 0xe000 && c <= 0xf8ff) || (c >= 0xfff0 && c <= 0xffff);
}

/// How many bytes the printable character takes with which the text begins; 0 if it begins with
/// something else.
std::size_t printable_character(std::string_view text) {
  const auto byte = [text](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const auto first = byte(0);
  if (first < 0x80)
    return is_printable_ascii(text[0]) ? 1 : 0;
  const std::size_t size = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < size)
    return 0;
  char32_t c = first & (0xffU >> (size + 1));
  for (std::size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xc0U) != 0x80)
      return 0;
    c = c << 6U | (byte(i) & 0x3fU);
  }
  constexpr std::array<char32_t, 3> least{0x80, 0x800, 0x10000};
  const bool is_character = c >= least[size - 2] && c <= 0x10ffff && (c < 0xd800 || c > 0xdfff);
  return is_character && !is_hidden(c) ? size : 0;
}

bool is_printable(std::string_view text, std::string_view allowed) {
  while (!text.empty()) {
    const auto size = allowed.find(text[0]) != allowed.npos ? 1 : printable_character(text);
    if (size == 0)
      return false;
    text.remove_prefix(size);
  }
  return true;
}

/// As a whole where that is printable, or else byte by byte.
void add_piece(std::string& out, std::string_view text, std::string_view allowed) {
  if (is_printable(text, allowed)) {
    out += text;
    return;
  }
  for (const char c : text)
    if (is_printable_ascii(c) || allowed.find(c) != allowed.npos)
      out += c;
    else
      add_byte(out, c);
}

/// `digits` are those of a number with the point behind the first `point` of them.
void add_digits(std::string& out, std::string_view digits, int point) {
  constexpr int most_before_point = 21;
  constexpr int most_zeros = 5;
  const auto size = static_cast<int>(digits.size());
  if (size <= point && point <= most_before_point) {
    out.append(digits).append(static_cast<std::size_t>(point - size), '0') += ".0";
  } else if (0 < point && point <= most_before_point) {
    const auto before = static_cast<std::size_t>(point);
    out.append(digits.substr(0, before)).append(".").append(digits.substr(before));
  } else if (-most_zeros <= point && point <= 0) {
    out.append("0.").append(static_cast<std::size_t>(-point), '0').append(digits);
  } else {
    out += digits[0];
    if (size > 1)
      out.append(".").append(digits.substr(1));
    out.append("e").append(std::to_string(point - 1));
  }
}

} // namespace

double seconds_of(timespan x) {
  constexpr std::uint64_t second = 1'000'000'000;
  const bool negative = x.count() < 0;
  const auto ns =
      negative ? -static_cast<std::uint64_t>(x.count()) : static_cast<std::uint64_t>(x.count());
  constexpr std::uint64_t exact = std::uint64_t{1} << 53U; // doubles hold all numbers below
  double result = 0;
  if (ns < exact) {
    result = static_cast<double>(ns) / static_cast<double>(second);
  } else { // two roundings in a row could miss the nearest
    auto text = std::to_string(ns);
    text.insert(text.size() - 9, 1, '.');
    std::from_chars(text.data(), text.data() + text.size(), result);
  }
  return negative ? -result : result;
}

void add_seconds(std::string& out, double seconds) {
  std::array<char, longest_fixed> text{};
  out += fixed(text, seconds);
}

void add_real(std::string& out, real x) {
  if (!std::isfinite(x)) {
    out += std::isnan(x) ? "nan" : x < 0 ? "-inf" : "inf";
    return;
  }
  std::array<char, longest_fixed> text{};
  auto shown = fixed(text, x == 0 ? 0 : x); // without the sign of a zero
  shown.remove_suffix(shown.size() - 1 - shown.find_last_not_of('0'));
  if (shown.ends_with('.'))
    shown.remove_suffix(1);
  out += shown;
  // Not where digits that are not shown make it another number.
  constexpr double tolerance = 1e-9;
  if (std::abs(x - std::nearbyint(x)) < tolerance)
    out += ".0";
}

void add_json_real(std::string& out, real x) {
  if (!std::isfinite(x)) {
    out += "null";
    return;
  }
  if (std::signbit(x))
    out += '-';
  if (x == 0) {
    out += "0.0";
    return;
  }
  std::array<char, 32> text{}; // d.ddddde-308
  const auto [end, failed] = std::to_chars(text.data(), text.data() + text.size(), std::abs(x),
                                           std::chars_format::scientific);
  const std::string_view shown{text.data(), static_cast<std::size_t>(end - text.data())};
  const auto mark = shown.find('e');
  int exponent = 0;
  std::from_chars(shown.data() + mark + (shown[mark + 1] == '+' ? 2 : 1), end, exponent);
  std::array<char, 20> digits{};
  const auto* const last = std::copy_if(shown.begin(), shown.begin() + mark, digits.begin(),
                                        [](char c) { return c != '.'; });
  add_digits(out, {digits.data(), static_cast<std::size_t>(last - digits.data())}, exponent + 1);
}

void add_iso_time(std::string& out, double seconds) {
  constexpr double microseconds = 1'000'000;
  auto whole = std::floor(seconds);
  auto micros = std::nearbyint((seconds - whole) * microseconds);
  if (micros >= microseconds) {
    whole += 1;
    micros = 0;
  }
  const auto second = static_cast<std::time_t>(whole);
  std::tm parts{};
  std::array<char, 40> text{};
  const auto size =
      std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%S.", ::gmtime_r(&second, &parts));
  out.append(text.data(), size);
  const auto digits = std::to_string(static_cast<int>(micros));
  out.append(digits_behind_point - digits.size(), '0').append(digits) += 'Z';
}

void add_address(std::string& out, const address& x) {
  constexpr std::array<std::uint8_t, 12> compatible{};
  constexpr std::array<std::uint8_t, 12> translated{0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0, 0};
  const auto& bytes = x.bytes();
  const bool is_compatible = std::equal(compatible.begin(), compatible.end(), bytes.begin()) &&
                             (bytes[12] != 0 || bytes[13] != 0);
  if (!is_compatible && !std::equal(translated.begin(), translated.end(), bytes.begin())) {
    out += to_string(x);
    return;
  }
  out += is_compatible ? "::" : "::ffff:0:";
  for (auto i = compatible.size(); i < bytes.size(); ++i)
    out.append(i > compatible.size() ? "." : "").append(std::to_string(bytes[i]));
}

void add_escaped(std::string& out, std::string_view text, place where) {
  const std::string_view escaped = where == place::container ? "\\\t," : "\\\t";
  for (;;) {
    const auto end = text.find_first_of(escaped);
    add_piece(out, text.substr(0, end), {});
    if (end == text.npos)
      return;
    if (text[end] == '\\')
      out += "\\\\";
    else
      add_byte(out, text[end]);
    text.remove_prefix(end + 1);
  }
}

void add_header_text(std::string& out, std::string_view text) {
  for (const char c : text)
    if (is_printable_ascii(c) && c != ' ')
      out += c;
    else
      add_byte(out, c);
}

void add_json_text(std::string& out, std::string_view text) {
  std::string shown;
  add_piece(shown, text, json_controls);
  out += '"';
  for (const char c : shown) {
    const auto control = json_controls.find(c);
    if (control != json_controls.npos)
      (out += '\\') += json_letters[control];
    else if (c == '"' || c == '\\')
      (out += '\\') += c;
    else
      out += c;
  }
  out += '"';
}

} // namespace pubsub::zeek
