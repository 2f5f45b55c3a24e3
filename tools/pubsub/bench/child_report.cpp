#include "bench/child_report.hpp"

#include "terminal.hpp"

#include <algorithm>

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

exit_code fail_child(child_process& child, const child_report& missing) {
  if (missing.what == child_report::kind::stopped) {
    complain("interrupted");
    return exit_code::usage;
  }
  if (missing.what == child_report::kind::timeout) {
    complain(fmt::format("{} did not report in time", child.name()));
    return exit_code::timeout;
  }
  auto pid = child.pid();
  complain(fmt::format("{} (pid {}) ended before its work was done: {}", child.name(), pid,
                       child.wait(deadline_after(1))));
  return exit_code::connect;
}

void report_line(std::string_view word, std::string_view rest) {
  line_output out;
  out.add(rest.empty() ? std::string{word} : fmt::format("{} {}", word, rest));
  out.flush();
}

void wait_for_parent() {
  char byte;
  while (::read(STDIN_FILENO, &byte, 1) > 0) {
  }
}

} // namespace pubsub::tool::bench
