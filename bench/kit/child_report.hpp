// What a child process reports on stdout: lines of a word and the rest.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "exit_code.hpp"
#include "kit/child_process.hpp"
#include "stop_signal.hpp"
#include "terminal.hpp"

namespace pubsub::tool::bench {

/// A line of a child, or why there is none.
struct child_report {
  enum class kind : unsigned char { line, ended, timeout, stopped };
  kind what = kind::line;
  std::string word;
  std::string rest;
};

/// So long a child may need until it says that it is ready.
inline constexpr double start_limit_s = 30;

/// Waits for the child's next line until it ends, a stop is asked for, or the deadline has passed.
child_report next_report(child_process& child, const stop_signal& stop, const deadline& end);

/// Passes lines over until one begins with `word`; returns that one, or why there is none.
child_report wait_for_report(child_process& child, std::string_view word, const stop_signal& stop,
                             const deadline& end);

/// The numbers of a report such as `done sent=7 seconds=0.5`, by key.
std::map<std::string, double> values_of(std::string_view rest);

/// Why the child has not reported, as a sentence.
std::string explain(child_process& child, const child_report& missing);
/// Says on stderr why the child has not reported, and returns the exit status for it.
exit_code fail_child(child_process& child, const child_report& missing);

/// What a child does (and `report_line`): waits until the parent closes this process's stdin.
void wait_for_parent();

} // namespace pubsub::tool::bench
