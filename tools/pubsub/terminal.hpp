// Writing to the terminal: problems, progress, lines on stdout.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include <pubsub/counters.hpp>
#include <pubsub/error.hpp>

#include "exit_code.hpp"

namespace pubsub::tool {

/// Writes `pubsub: <sentence>` to stderr.
void complain(std::string_view sentence);
/// What an error of the library means for the exit status.
exit_code exit_code_of(const error& problem);
/// The error as a sentence, with what to do about it.
std::string explain(const error& problem);
/// Complains and returns the exit status.
exit_code fail(const error& problem);

/// Says how many messages a subscriber could not read, and has missed.
void complain_of_drops(const subscriber_counters& counters);

bool stderr_is_terminal();

/// Counts what had to be skipped, by reason, and shows the first few problems.
class skip_log {
public:
  void add(const error& problem);
  std::uint64_t total() const noexcept { return total_; }
  /// `2 (invalid_data 1, invalid_json 1)`, or `0`.
  std::string summary() const;

private:
  std::map<std::string, std::uint64_t, std::less<>> by_reason_;
  std::uint64_t total_ = 0;
};

/// Collects lines and writes them to stdout at once.
class line_output {
public:
  void add(std::string_view line);
  /// False once stdout is closed or full.
  bool flush();

private:
  std::string pending_;
};

/// For the program that started this one: writes the line `word rest` to stdout at once.
void report_line(std::string_view word, std::string_view rest = {});

/// `2026-01-31T12:00:00.123Z`.
std::string time_of_day();

/// `4.2 s`, `12 min 5 s`, `3 h 20 min`, `4 days 2 h`.
std::string duration_text(double seconds);
/// The same in three characters or so: `59s`, `12m`, `23h`, `99d`.
std::string short_duration(double seconds);

/// At most five characters: `0.4`, `312`, `12.3k`, `4.56M`.
std::string short_number(double x);

/// Text of others, such as topics, so that it cannot steer a terminal: control characters are
/// written as `\x1b`, and bytes that are not UTF-8 as `?`.
std::string printable(std::string_view text);
/// How many columns printable text takes: characters that take two count as one.
std::size_t width_of(std::string_view text);
/// The first `width` columns of printable text; where some are missing the last is `~`.
std::string cut_to(std::string_view text, std::size_t width);

} // namespace pubsub::tool
