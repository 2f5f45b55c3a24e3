// SPDX-License-Identifier: BSD-3-Clause
#include "terminal.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

namespace pubsub::tool {

void complain(std::string_view sentence) {
  fmt::print(stderr, "pubsub: {}\n", sentence);
}

exit_code exit_code_of(const error& problem) {
  switch (problem.code()) {
  case errc::address_in_use:
  case errc::cannot_listen:
  case errc::peer_unavailable:
  case errc::peer_incompatible:
  case errc::peer_timeout:
  case errc::peer_disconnect_during_handshake:
  case errc::tls_failed:
  case errc::denied:
  case errc::unspecified: // a peer has refused it, with a code that version 1 does not know
    return exit_code::connect;
  case errc::request_timeout:
    return exit_code::timeout;
  default:
    return exit_code::usage;
  }
}

std::string explain(const error& problem) {
  if (problem.context().empty())
    return std::string{describe(problem.code())};
  return problem.context();
}

exit_code fail(const error& problem) {
  complain(explain(problem));
  return exit_code_of(problem);
}

void complain_of_drops(const subscriber_counters& counters) {
  if (const auto unreadable = counters.decode_errors; unreadable > 0)
    complain(fmt::format("{} messages were no valid values", unreadable));
  if (const auto missing = counters.dropped_oldest + counters.dropped_newest + counters.missed;
      missing > 0)
    complain(
        fmt::format("{} messages were dropped, {} of them on the way", missing, counters.missed));
}

bool stderr_is_terminal() {
  static const bool answer = ::isatty(STDERR_FILENO) == 1;
  return answer;
}

void skip_log::add(const error& problem) {
  constexpr std::uint64_t shown = 20;
  ++by_reason_[std::string{to_string(problem.code())}];
  if (++total_ <= shown)
    complain(explain(problem));
  else if (total_ == shown + 1)
    complain("further problems are only counted");
}

std::string skip_log::summary() const {
  auto text = std::to_string(total_);
  auto separator = " (";
  for (const auto& [reason, n] : by_reason_) {
    text += separator + reason + " " + std::to_string(n);
    separator = ", ";
  }
  return by_reason_.empty() ? text : text + ")";
}

void line_output::add(std::string_view line) {
  pending_ += line;
  pending_ += '\n';
}

bool line_output::flush() {
  auto written = std::fwrite(pending_.data(), 1, pending_.size(), stdout);
  bool ok = written == pending_.size() && std::fflush(stdout) == 0;
  pending_.clear();
  return ok;
}

void report_line(std::string_view word, std::string_view rest) {
  line_output out;
  out.add(rest.empty() ? std::string{word} : fmt::format("{} {}", word, rest));
  out.flush();
}

std::string time_of_day() {
  auto now =
      std::chrono::time_point_cast<std::chrono::milliseconds>(std::chrono::system_clock::now());
  auto ms = now.time_since_epoch().count() % 1000;
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}Z",
                     fmt::gmtime(std::chrono::system_clock::to_time_t(now)), ms);
}

std::string duration_text(double seconds) {
  const auto whole = static_cast<std::uint64_t>(std::max(seconds, 0.0));
  if (whole < 60)
    return fmt::format("{:.1f} s", seconds);
  if (whole < 3600)
    return fmt::format("{} min {} s", whole / 60, whole % 60);
  if (whole < 48 * 3600)
    return fmt::format("{} h {} min", whole / 3600, whole / 60 % 60);
  return fmt::format("{} days {} h", whole / 86400, whole / 3600 % 24);
}

std::string short_duration(double seconds) {
  const auto whole = static_cast<std::uint64_t>(std::max(seconds, 0.0));
  return whole < 60          ? fmt::format("{}s", whole)
         : whole < 60 * 60   ? fmt::format("{}m", whole / 60)
         : whole < 48 * 3600 ? fmt::format("{}h", whole / 3600)
                             : fmt::format("{}d", whole / 86400);
}

std::string short_number(double x) {
  constexpr std::string_view steps[] = {"", "k", "M", "G", "T"};
  if (x < 9.95 && x != std::floor(x))
    return x < 0.05 ? ">0" : fmt::format("{:.1f}", x);
  if (x < 9'999.5)
    return fmt::format("{:.0f}", x);
  std::size_t step = 0;
  while (x >= 999.5 && step + 1 < std::size(steps)) {
    x /= 1000;
    ++step;
  }
  return fmt::format("{:.{}f}{}", x, x >= 99.95 ? 0 : x >= 9.995 ? 1 : 2, steps[step]);
}

namespace {

bool continues_character(char c) {
  return (static_cast<unsigned char>(c) & 0xc0) == 0x80;
}

/// The bytes of the character that begins here; 0: none does.
std::size_t character_bytes(std::string_view text) {
  const auto first = static_cast<unsigned char>(text.front());
  const std::size_t n = first < 0x80                    ? 1
                        : first >= 0xc2 && first < 0xe0 ? 2
                        : first >= 0xe0 && first < 0xf0 ? 3
                        : first >= 0xf0 && first < 0xf5 ? 4
                                                        : 0;
  return n <= text.size() &&
                 std::ranges::all_of(text.substr(1, n == 0 ? 0 : n - 1), continues_character)
             ? n
             : 0;
}

} // namespace

std::string printable(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const auto n = character_bytes(text);
    const auto first = static_cast<unsigned char>(text.front());
    // Some terminals take the characters from U+0080 to U+009F for control characters, too.
    const bool second_set = n == 2 && first == 0xc2 && static_cast<unsigned char>(text[1]) < 0xa0;
    if (n == 0 || second_set)
      result += '?';
    else if (first < 0x20 || first == 0x7f)
      result += fmt::format("\\x{:02x}", first);
    else
      result += text.substr(0, n);
    text.remove_prefix(std::max<std::size_t>(n, 1));
  }
  return result;
}

std::size_t width_of(std::string_view text) {
  return text.size() - static_cast<std::size_t>(std::ranges::count_if(text, continues_character));
}

std::string cut_to(std::string_view text, std::size_t width) {
  if (width_of(text) <= width)
    return std::string{text};
  if (width == 0)
    return "";
  std::size_t end = 0;
  for (std::size_t left = width - 1; left > 0; --left)
    do
      ++end;
    while (continues_character(text[end]));
  return std::string{text.substr(0, end)} + "~";
}

} // namespace pubsub::tool
