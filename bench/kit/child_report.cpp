// SPDX-License-Identifier: BSD-3-Clause
#include "kit/child_report.hpp"

#include "terminal.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>
#include <unistd.h>

namespace pubsub::tool::bench {

child_report next_report(child_process& child, const stop_signal& stop, const deadline& end) {
  using kind = child_report::kind;
  for (;;) {
    if (auto line = child.read_line()) {
      auto word = line->substr(0, line->find(' '));
      return {kind::line, word, line->substr(std::min(line->size(), word.size() + 1))};
    }
    if (child.finished())
      return {kind::ended, {}, {}};
    auto woken = wait_readable(child.fd(), stop, end);
    if (woken != wake::ready)
      return {woken == wake::stopped ? kind::stopped : kind::timeout, {}, {}};
  }
}

child_report wait_for_report(child_process& child, std::string_view word, const stop_signal& stop,
                             const deadline& end) {
  for (;;) {
    auto report = next_report(child, stop, end);
    if (report.what != child_report::kind::line || report.word == word)
      return report;
  }
}

std::map<std::string, double> values_of(std::string_view text) {
  std::map<std::string, double> values;
  while (!text.empty()) {
    auto word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(text.size(), word.size() + 1));
    auto equals = word.find('=');
    double value = 0;
    if (equals == std::string_view::npos)
      continue;
    std::from_chars(word.data() + equals + 1, word.data() + word.size(), value);
    values[std::string{word.substr(0, equals)}] = value;
  }
  return values;
}

std::string explain(child_process& child, const child_report& missing) {
  if (missing.what == child_report::kind::stopped)
    return "interrupted";
  if (missing.what == child_report::kind::timeout)
    return fmt::format("{} did not report in time", child.name());
  auto pid = child.pid();
  return fmt::format("{} (pid {}) ended before its work was done: {}", child.name(), pid,
                     child.wait(deadline_after(1)));
}

exit_code fail_child(child_process& child, const child_report& missing) {
  complain(explain(child, missing));
  if (missing.what == child_report::kind::stopped)
    return exit_code::usage;
  return missing.what == child_report::kind::timeout ? exit_code::timeout : exit_code::connect;
}

void wait_for_parent() {
  char byte;
  while (::read(STDIN_FILENO, &byte, 1) > 0) {
  }
}

} // namespace pubsub::tool::bench
