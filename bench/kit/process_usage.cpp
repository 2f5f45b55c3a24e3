// SPDX-License-Identifier: BSD-3-Clause
#include "kit/process_usage.hpp"

#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>

namespace pubsub::tool::bench {

namespace {

rusage usage_now() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return usage;
}

std::chrono::nanoseconds span_of(const timeval& x) {
  return std::chrono::seconds{x.tv_sec} + std::chrono::microseconds{x.tv_usec};
}

} // namespace

processor_time processor_time::now() {
  const auto usage = usage_now();
  return {span_of(usage.ru_utime), span_of(usage.ru_stime)};
}

std::chrono::nanoseconds cpu_time() {
  const auto all = processor_time::now();
  return all.user + all.system;
}

std::uint64_t wake_ups() {
  return static_cast<std::uint64_t>(usage_now().ru_nvcsw);
}

std::uint64_t heap_bytes() {
#if defined(__GLIBC__) && (__GLIBC__ > 2 || __GLIBC_MINOR__ >= 33)
  auto info = ::mallinfo2();
  return info.uordblks + info.hblkhd; // small blocks, and large ones that are mapped singly
#else
  return 0;
#endif
}

std::uint64_t resident_bytes() {
#ifdef __GLIBC__
  ::malloc_trim(0);
#endif
  std::ifstream file{"/proc/self/statm"};
  std::uint64_t total = 0;
  std::uint64_t resident = 0;
  file >> total >> resident;
  return resident * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

std::uint64_t peak_resident_bytes() {
  std::ifstream status{"/proc/self/status"};
  for (std::string key; status >> key; status.ignore(1000, '\n'))
    if (std::uint64_t kib = 0; key == "VmHWM:" && status >> kib)
      return kib * 1024;
  return 0;
}

double cpu_seconds_of(pid_t pid) {
  std::ifstream file{"/proc/" + std::to_string(pid) + "/stat"};
  std::string text{std::istreambuf_iterator<char>{file}, {}};
  std::istringstream rest{text.substr(text.rfind(')') + 1)};
  std::string skipped;
  for (int i = 0; i < 11; ++i)
    rest >> skipped;
  double user = 0;
  double kernel = 0;
  rest >> user >> kernel;
  return (user + kernel) / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

double resident_bytes_of(pid_t pid) {
  std::ifstream file{"/proc/" + std::to_string(pid) + "/statm"};
  double all = 0;
  double resident = 0;
  file >> all >> resident;
  return resident * static_cast<double>(::sysconf(_SC_PAGESIZE));
}

void raise_limit_of_files() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0)
    return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

} // namespace pubsub::tool::bench
