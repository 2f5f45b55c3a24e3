// SPDX-License-Identifier: BSD-3-Clause
#include "kit/program_run.hpp"

namespace pubsub::tool::bench {

std::filesystem::path find_peers(const std::string& asked_for) {
  return asked_for.empty() ? std::filesystem::path{own_program()}.parent_path()
                           : std::filesystem::path{asked_for};
}

program_run run_to_end(child_process child, const deadline& limit, const stop_signal& stop) {
  using end = program_run::end;
  program_run result;
  while (!child.finished()) {
    while (auto line = child.read_line())
      result.last_line = std::move(*line);
    if (child.finished())
      break;
    auto woken = wait_readable(child.fd(), stop, limit);
    if (woken == wake::ready)
      continue;
    result.what = woken == wake::stopped ? end::interrupted : end::too_late;
    result.how = woken == wake::stopped ? "interrupted" : "did not end in time";
    return result; // the child is killed
  }
  result.how = child.wait(deadline_after(10));
  return result;
}

} // namespace pubsub::tool::bench
