// SPDX-License-Identifier: BSD-3-Clause
#include "recording/moments.hpp"

#include <charconv>
#include <cmath>
#include <ctime>

#include <fmt/chrono.h>
#include <fmt/format.h>

namespace pubsub::tool {

namespace {

constexpr double latest_s = 9.2e9; // 64 bits of nanoseconds end in 2262
constexpr double longest_s = 1e9;  // so that a length can be added to the time of now

std::optional<timespan> parse_seconds(std::string_view text, double unit_s = 1,
                                      double most_s = latest_s) {
  double value = 0;
  const auto* const end = text.data() + text.size();
  const auto [at, failure] = std::from_chars(text.data(), end, value, std::chars_format::fixed);
  value *= unit_s;
  if (failure != std::errc{} || at != end || !(value >= 0) || value > most_s)
    return std::nullopt;
  return timespan{std::llround(value * 1e9)};
}

std::optional<timespan> parse_date(const std::string& text) {
  std::tm parts{};
  const auto* const rest = ::strptime(text.c_str(), "%Y-%m-%dT%H:%M:%S", &parts);
  if (rest == nullptr)
    return std::nullopt;
  std::string_view fraction{rest};
  if (fraction.ends_with('Z'))
    fraction.remove_suffix(1);
  const auto whole = std::chrono::seconds{::timegm(&parts)};
  if (fraction.empty())
    return whole;
  if (fraction.size() < 2 || fraction.front() != '.')
    return std::nullopt;
  const auto part = parse_seconds("0" + std::string{fraction});
  return part ? std::optional{whole + *part} : std::nullopt;
}

} // namespace

std::optional<moment> parse_moment(std::string_view text) {
  const bool relative = text.starts_with('+');
  const auto value = relative                      ? parse_seconds(text.substr(1))
                     : text.find('-') != text.npos ? parse_date(std::string{text})
                                                   : parse_seconds(text);
  return value ? std::optional{moment{*value, relative}} : std::nullopt;
}

std::optional<timespan> parse_length(std::string_view text) {
  constexpr std::pair<std::string_view, double> units[] = {
      {"ms", 1e-3}, {"s", 1}, {"m", 60}, {"h", 3600}};
  for (const auto& [unit, seconds] : units)
    if (text.ends_with(unit))
      return parse_seconds(text.substr(0, text.size() - unit.size()), seconds, longest_s);
  return parse_seconds(text, 1, longest_s);
}

std::string moment_text(timestamp x) {
  const auto whole = std::chrono::floor<std::chrono::seconds>(x);
  const auto micros = std::chrono::floor<std::chrono::microseconds>(x - whole).count();
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:06}Z",
                     fmt::gmtime(static_cast<std::time_t>(whole.time_since_epoch().count())),
                     micros);
}

std::string size_text(std::uint64_t bytes) {
  constexpr std::string_view units[] = {"kB", "MB", "GB", "TB"};
  if (bytes < 1000)
    return fmt::format("{} bytes", bytes);
  auto shown = static_cast<double>(bytes) / 1000;
  std::size_t unit = 0;
  for (; shown >= 999.95 && unit + 1 < std::size(units); ++unit)
    shown /= 1000;
  return fmt::format("{:.1f} {}", shown, units[unit]);
}

std::string grouped(std::uint64_t x) {
  auto digits = std::to_string(x);
  for (auto at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > 0; at -= 3)
    digits.insert(static_cast<std::size_t>(at), ",");
  return digits;
}

CLI::Option* add_size_option(CLI::App& command, const std::string& name, std::uint64_t& bytes,
                             const std::string& text) {
  return command.add_option(name, bytes, text)
      ->transform(CLI::AsSizeValue(true))
      ->type_name("SIZE");
}

CLI::Option* add_length_option(CLI::App& command, const std::string& name, timespan& length,
                               const std::string& text, timespan least) {
  const auto read = [name, &length, least](const std::string& given) {
    const auto found = parse_length(given);
    if (!found || *found < least)
      throw CLI::ValidationError(name, "a length of time is expected: 90 for seconds, or 500ms, "
                                       "90s, 10m, 2h");
    length = *found;
  };
  return command.add_option_function<std::string>(name, read, text)->type_name("SECONDS");
}

} // namespace pubsub::tool
