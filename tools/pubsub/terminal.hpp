// Writing to the terminal: problems, progress, lines on stdout.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

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

} // namespace pubsub::tool
