// SPDX-License-Identifier: BSD-3-Clause
#include "format/text.hpp"

#include <array>
#include <charconv>

namespace pubsub {

namespace {

constexpr std::int64_t ns_per_second = 1'000'000'000;

struct unit {
  std::string_view name;
  std::int64_t ns;
};

// From fine to coarse; the rendering uses the first four only.
constexpr std::array<unit, 6> units{{{"ns", 1},
                                     {"us", 1'000},
                                     {"ms", 1'000'000},
                                     {"s", ns_per_second},
                                     {"min", 60 * ns_per_second},
                                     {"h", 3600 * ns_per_second}}};

void append_padded(std::string& out, unsigned x, unsigned digits) {
  char buffer[10];
  for (auto i = digits; i > 0; --i, x /= 10)
    buffer[i - 1] = static_cast<char>('0' + x % 10);
  out.append(buffer, digits);
}

// Takes fields of fixed width off the front; any mismatch makes all further reads fail.
class field_reader {
public:
  explicit field_reader(std::string_view text) noexcept : text_(text) {}

  bool at_end() const noexcept { return text_.empty(); }
  bool next_is(char c) const noexcept { return !text_.empty() && text_.front() == c; }
  bool next_is_digit() const noexcept {
    return !text_.empty() && text_.front() >= '0' && text_.front() <= '9';
  }

  bool take(char c) noexcept {
    if (!next_is(c))
      return false;
    text_.remove_prefix(1);
    return true;
  }

  bool digits(unsigned width, unsigned& out) noexcept {
    out = 0;
    for (; width > 0; --width) {
      if (!next_is_digit())
        return false;
      out = 10 * out + static_cast<unsigned>(text_.front() - '0');
      text_.remove_prefix(1);
    }
    return true;
  }

private:
  std::string_view text_;
};

bool read_date(field_reader& in, std::int64_t& days) noexcept {
  unsigned year = 0;
  unsigned month = 0;
  unsigned day = 0;
  if (!in.digits(4, year) || !in.take('-') || !in.digits(2, month) || !in.take('-') ||
      !in.digits(2, day))
    return false;
  const std::chrono::year_month_day date{std::chrono::year{static_cast<int>(year)},
                                         std::chrono::month{month}, std::chrono::day{day}};
  if (!date.ok())
    return false;
  days = std::chrono::sys_days{date}.time_since_epoch().count();
  return true;
}

bool read_clock(field_reader& in, std::int64_t& seconds) noexcept {
  unsigned hour = 0;
  unsigned minute = 0;
  unsigned second = 0;
  if (!in.digits(2, hour) || !in.take(':') || !in.digits(2, minute) || !in.take(':') ||
      !in.digits(2, second) || hour > 23 || minute > 59 || second > 59)
    return false;
  seconds = (hour * 60 + minute) * 60 + second;
  return true;
}

bool read_fraction(field_reader& in, std::int64_t& ns) noexcept {
  ns = 0;
  if (!in.take('.'))
    return true;
  std::int64_t scale = ns_per_second;
  while (in.next_is_digit() && scale > 1) {
    unsigned digit = 0;
    if (!in.digits(1, digit))
      return false;
    scale /= 10;
    ns += digit * scale;
  }
  return scale < ns_per_second;
}

// `Z`, `+HH`, `+HHMM`, `+HH:MM` or nothing, and then the end.
bool read_zone(field_reader& in, std::int64_t& offset_seconds) noexcept {
  offset_seconds = 0;
  if (in.at_end())
    return true;
  if (in.take('Z'))
    return in.at_end();
  const bool west = in.next_is('-');
  if (!in.take('+') && !in.take('-'))
    return false;
  unsigned hours = 0;
  unsigned minutes = 0;
  if (!in.digits(2, hours))
    return false;
  if (!in.at_end()) {
    in.take(':');
    if (!in.digits(2, minutes))
      return false;
  }
  if (!in.at_end() || hours > 23 || minutes > 59)
    return false;
  offset_seconds = (hours * 60 + minutes) * 60;
  if (west)
    offset_seconds = -offset_seconds;
  return true;
}

} // namespace

void append_iso_time(std::string& out, timestamp x) {
  const auto ns = x.time_since_epoch().count();
  // Truncation towards the epoch, both of seconds and of the fraction, is Broker's rendering.
  const std::chrono::sys_seconds whole{std::chrono::seconds{ns / ns_per_second}};
  const auto fraction = ns < 0 ? 0 : ns % ns_per_second / 1'000'000;
  const auto day = std::chrono::floor<std::chrono::days>(whole);
  const std::chrono::year_month_day date{day};
  const auto second = static_cast<unsigned>((whole - day).count());
  append_padded(out, static_cast<unsigned>(static_cast<int>(date.year())), 4);
  out += '-';
  append_padded(out, static_cast<unsigned>(date.month()), 2);
  out += '-';
  append_padded(out, static_cast<unsigned>(date.day()), 2);
  out += 'T';
  append_padded(out, second / 3600, 2);
  out += ':';
  append_padded(out, second / 60 % 60, 2);
  out += ':';
  append_padded(out, second % 60, 2);
  out += '.';
  append_padded(out, static_cast<unsigned>(fraction), 3);
}

void append_span_with_unit(std::string& out, timespan x) {
  auto value = x.count();
  std::size_t i = 0;
  while (i < 3 && value % 1000 == 0) {
    value /= 1000;
    ++i;
  }
  append_number(out, value);
  out += units[i].name;
}

std::optional<timestamp> parse_iso_time(std::string_view text) noexcept {
  field_reader in{text};
  std::int64_t days = 0;
  std::int64_t seconds = 0;
  std::int64_t ns = 0;
  std::int64_t offset = 0;
  if (!read_date(in, days) || !in.take('T') || !read_clock(in, seconds) || !read_fraction(in, ns) ||
      !read_zone(in, offset))
    return std::nullopt;
  auto whole = days * 86'400 + seconds - offset;
  if (whole < 0 &&
      ns > 0) { // both parts of one sign, so that the earliest instants do not overflow
    ++whole;
    ns -= ns_per_second;
  }
  std::int64_t result = 0;
  if (__builtin_mul_overflow(whole, ns_per_second, &result) ||
      __builtin_add_overflow(result, ns, &result))
    return std::nullopt;
  return timestamp{timespan{result}};
}

std::optional<timespan> parse_span_with_unit(std::string_view text) noexcept {
  if (text.size() > 1 && text[0] == '+' && text[1] != '-')
    text.remove_prefix(1);
  std::int64_t value = 0;
  const auto* last = text.data() + text.size();
  const auto [end, code] = std::from_chars(text.data(), last, value);
  if (code != std::errc{})
    return std::nullopt;
  const std::string_view name{end, last};
  for (const auto& candidate : units)
    if (candidate.name == name && !__builtin_mul_overflow(value, candidate.ns, &value))
      return timespan{value};
  return std::nullopt;
}

} // namespace pubsub
