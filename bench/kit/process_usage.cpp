#include "kit/process_usage.hpp"

#include <fstream>
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

std::chrono::nanoseconds cpu_time() {
  auto usage = usage_now();
  return span_of(usage.ru_utime) + span_of(usage.ru_stime);
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

} // namespace pubsub::tool::bench
