// SPDX-License-Identifier: BSD-3-Clause
#include "zeek_logs/log_text.hpp"

#include <charconv>
#include <limits>

namespace pubsub::zeek {

namespace {

constexpr int nanosecond_digits = 9;
__extension__ using wide_integer = __int128;

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

int hex_digit(char c) {
  if (is_digit(c))
    return c - '0';
  if (c >= 'a' && c <= 'f')
    return c - 'a' + 10;
  if (c >= 'A' && c <= 'F')
    return c - 'A' + 10;
  return -1;
}

// A decimal number taken apart: 0.<digits> * 10^point.
struct decimal {
  bool negative = false;
  std::string digits; // no leading zeros
  int point = 0;
};

std::optional<decimal> take_apart(std::string_view text) {
  decimal result;
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) {
    result.negative = text[0] == '-';
    text.remove_prefix(1);
  }
  bool any = false;
  bool fraction = false;
  std::size_t i = 0;
  for (; i < text.size() && (is_digit(text[i]) || (text[i] == '.' && !fraction)); ++i) {
    if (text[i] == '.') {
      fraction = true;
      continue;
    }
    any = true;
    bool leading_zero = result.digits.empty() && text[i] == '0';
    if (!leading_zero)
      result.digits += text[i];
    if (fraction ? leading_zero : !leading_zero)
      result.point += fraction ? -1 : 1;
  }
  if (!any)
    return std::nullopt;
  if (i == text.size())
    return result;
  if (text[i] != 'e' && text[i] != 'E')
    return std::nullopt;
  auto exponent_text = text.substr(i + 1);
  if (!exponent_text.empty() && exponent_text[0] == '+')
    exponent_text.remove_prefix(1);
  int exponent = 0;
  auto [end, failure] =
      std::from_chars(exponent_text.data(), exponent_text.data() + exponent_text.size(), exponent);
  if (failure != std::errc{} || end != exponent_text.data() + exponent_text.size() ||
      exponent < -1'000 || exponent > 1'000)
    return std::nullopt;
  result.point += exponent;
  return result;
}

} // namespace

std::optional<std::int64_t> parse_seconds(std::string_view text) {
  constexpr std::uint64_t limit = std::numeric_limits<std::int64_t>::max();
  auto number = take_apart(text);
  if (!number)
    return std::nullopt;
  if (number->digits.empty())
    return 0;
  auto kept = number->point + nanosecond_digits;
  if (kept < 0)
    return 0;
  if (kept > std::numeric_limits<std::int64_t>::digits10 + 1)
    return std::nullopt;
  auto digit_at = [&](int i) {
    auto index = static_cast<std::size_t>(i);
    return index < number->digits.size() ? static_cast<unsigned>(number->digits[index] - '0') : 0U;
  };
  std::uint64_t value = 0; // at most 19 digits: fits
  for (int i = 0; i < kept; ++i)
    value = value * 10 + digit_at(i);
  if (digit_at(kept) >= 5)
    ++value;
  if (value > limit)
    return std::nullopt;
  auto result = static_cast<std::int64_t>(value);
  return number->negative ? -result : result;
}

std::string unescape(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    auto left = text.size() - i;
    if (text[i] == '\\' && left >= 4 && text[i + 1] == 'x' && hex_digit(text[i + 2]) >= 0 &&
        hex_digit(text[i + 3]) >= 0) {
      result += static_cast<char>(hex_digit(text[i + 2]) * 16 + hex_digit(text[i + 3]));
      i += 3;
    } else if (text[i] == '\\' && left >= 2 && text[i + 1] == '\\') {
      result += '\\';
      i += 1;
    } else {
      result += text[i];
    }
  }
  return result;
}

std::string excerpt(std::string_view text) {
  constexpr std::size_t shown = 60;
  constexpr std::string_view hex = "0123456789abcdef";
  std::string result = "'";
  for (char c : text.substr(0, shown)) {
    auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte < 0x7f)
      result += c;
    else
      (result += "\\x").append({hex[byte >> 4], hex[byte & 15]});
  }
  return result += text.size() > shown ? "...'" : "'";
}

transport parse_transport(std::string_view text) {
  auto is = [&](std::string_view name) {
    if (text.size() != name.size())
      return false;
    for (std::size_t i = 0; i < name.size(); ++i)
      if ((text[i] | 0x20) != name[i])
        return false;
    return true;
  };
  if (is("tcp"))
    return transport::tcp;
  if (is("udp"))
    return transport::udp;
  return is("icmp") ? transport::icmp : transport::unknown;
}

namespace {

// Nanoseconds in a unit of Zeek's interval text, singular or plural; 0 if it is none.
std::int64_t unit_nanoseconds(std::string_view unit) {
  if (unit.ends_with('s'))
    unit.remove_suffix(1);
  if (unit == "usec")
    return 1'000;
  if (unit == "msec")
    return 1'000'000;
  if (unit == "sec")
    return 1'000'000'000;
  if (unit == "min")
    return 60'000'000'000;
  if (unit == "hr")
    return 3'600'000'000'000;
  return unit == "day" ? 86'400'000'000'000 : 0;
}

std::string_view take_word(std::string_view& text) {
  auto end = text.find(' ');
  auto word = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return word;
}

} // namespace

std::optional<timespan> parse_duration(std::string_view text) {
  if (text.empty() || !(is_digit(text[0]) || text[0] == '-'))
    return std::nullopt;
  std::int64_t total = 0;
  while (!text.empty()) {
    auto number = parse_seconds(take_word(text)); // in 1e-9 of the unit
    auto unit = unit_nanoseconds(take_word(text));
    if (!number || unit == 0)
      return std::nullopt;
    auto exact = static_cast<wide_integer>(*number) * unit;
    auto rounded = (exact + (exact < 0 ? -500'000'000 : 500'000'000)) / 1'000'000'000;
    if (rounded > std::numeric_limits<std::int64_t>::max() ||
        rounded < std::numeric_limits<std::int64_t>::min() ||
        __builtin_add_overflow(total, static_cast<std::int64_t>(rounded), &total))
      return std::nullopt;
  }
  return timespan{total};
}

std::optional<timestamp> parse_iso_time(std::string_view text) {
  // YYYY-MM-DDThh:mm:ss[.fraction]Z
  constexpr std::string_view shape = "dddd-dd-ddTdd:dd:dd";
  if (text.size() <= shape.size() || text.back() != 'Z')
    return std::nullopt;
  for (std::size_t i = 0; i < shape.size(); ++i)
    if (shape[i] == 'd' ? !is_digit(text[i]) : text[i] != shape[i])
      return std::nullopt;
  auto field = [&](std::size_t at, std::size_t n) {
    int value = 0;
    for (auto c : text.substr(at, n))
      value = value * 10 + (c - '0');
    return value;
  };
  auto date = std::chrono::year{field(0, 4)} / field(5, 2) / field(8, 2);
  auto hours = field(11, 2);
  auto minutes = field(14, 2);
  auto seconds = field(17, 2);
  if (!date.ok() || hours > 23 || minutes > 59 || seconds > 59)
    return std::nullopt;
  auto fraction_text = text.substr(shape.size(), text.size() - shape.size() - 1);
  std::int64_t fraction = 0;
  if (!fraction_text.empty()) {
    auto parsed = fraction_text[0] == '.' ? parse_seconds(fraction_text) : std::nullopt;
    if (!parsed)
      return std::nullopt;
    fraction = *parsed;
  }
  auto day = std::chrono::sys_days{date};
  if (day < std::chrono::sys_days{std::chrono::year{1678} / 1 / 1} ||
      day > std::chrono::sys_days{std::chrono::year{2262} / 1 / 1})
    return std::nullopt;
  auto whole =
      std::chrono::hours{hours} + std::chrono::minutes{minutes} + std::chrono::seconds{seconds};
  return timestamp{day} + whole + timespan{fraction};
}

} // namespace pubsub::zeek
