// SPDX-License-Identifier: BSD-3-Clause
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>

#include <sys/resource.h>
#include <unistd.h>

#include "endpoint/exposition.hpp"

namespace pubsub {

namespace {

double seconds_of(const timeval& x) {
  return static_cast<double>(x.tv_sec) + static_cast<double>(x.tv_usec) / 1e6;
}

std::optional<std::uint64_t> resident_bytes() {
  std::ifstream file{"/proc/self/statm"};
  std::uint64_t all = 0;
  std::uint64_t resident = 0;
  if (!(file >> all >> resident))
    return std::nullopt;
  return resident * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

std::optional<std::uint64_t> open_descriptors() {
  std::error_code failure;
  std::uint64_t n = 0;
  for (std::filesystem::directory_iterator at{"/proc/self/fd", failure}, end; !failure && at != end;
       at.increment(failure))
    ++n;
  if (failure || n == 0)
    return std::nullopt;
  return n - 1; // without the one that reads the folder
}

} // namespace

void add_process_metrics(exposition& to) {
  rusage used{};
  if (::getrusage(RUSAGE_SELF, &used) == 0)
    to.single("process_cpu_seconds_total", "Processor time used, user and system.",
              seconds_of(used.ru_utime) + seconds_of(used.ru_stime));
  if (const auto n = resident_bytes())
    to.single("process_resident_memory_bytes", "Memory in use.", *n);
  if (const auto n = open_descriptors())
    to.single("process_open_fds", "File descriptors in use.", *n);
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) == 0)
    to.single("process_max_fds", "File descriptors that the process may have.",
              std::uint64_t{limit.rlim_cur});
}

} // namespace pubsub
