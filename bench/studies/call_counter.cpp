// SPDX-License-Identifier: BSD-3-Clause
#include "studies/call_counter.hpp"

#include <cerrno>
#include <charconv>
#include <csignal>
#include <filesystem>
#include <set>
#include <string>
#include <system_error>
#include <thread>

#include <sys/ptrace.h>
#include <sys/wait.h>

namespace pubsub::tool::bench {

namespace {

constexpr auto call_stop = SIGTRAP | 0x80; // by PTRACE_O_TRACESYSGOOD

long trace(__ptrace_request what, pid_t thread, long data) {
  return ::ptrace(what, thread, nullptr, reinterpret_cast<void*>(data)); // NOLINT
}

std::vector<pid_t> threads_of(pid_t process) {
  std::vector<pid_t> result;
  std::error_code failure;
  const auto folder = "/proc/" + std::to_string(process) + "/task";
  for (const auto& entry : std::filesystem::directory_iterator{folder, failure}) {
    const auto name = entry.path().filename().string();
    pid_t thread = 0;
    std::from_chars(name.data(), name.data() + name.size(), thread);
    result.push_back(thread);
  }
  return result;
}

/// Belongs to one thread; when that ends, the system lets the traced ones go.
class tracer {
public:
  bool attach(const std::vector<pid_t>& children) {
    for (const auto child : children) {
      const auto threads = threads_of(child);
      if (threads.empty())
        return false;
      for (const auto thread : threads) {
        if (trace(PTRACE_SEIZE, thread, PTRACE_O_TRACESYSGOOD) != 0)
          return false;
        trace(PTRACE_INTERRUPT, thread, 0); // its first stop; from there it goes from call to call
        awaited_.insert(thread);
      }
    }
    while (!awaited_.empty())
      if (!step())
        return false;
    calls_ = 0;
    return true;
  }

  std::optional<std::uint64_t> count_until(const std::function<bool()>& done) {
    while (!done())
      if (!step())
        return {};
    return calls_;
  }

private:
  /// Waits for the next stop of any of them and lets it go on. False if there will be none.
  bool step() {
    siginfo_t stopped{};
    while (::waitid(P_ALL, 0, &stopped, WSTOPPED | __WALL) != 0)
      if (errno != EINTR)
        return false;
    if (stopped.si_code != CLD_TRAPPED)
      return true; // stopped, but not by us
    const auto how = stopped.si_status;
    awaited_.erase(stopped.si_pid);
    if (how == call_stop && enters_call(stopped.si_pid))
      ++calls_;
    const bool of_tracing = how == call_stop || how >> 8 != 0 || how == SIGTRAP;
    trace(PTRACE_SYSCALL, stopped.si_pid, of_tracing ? 0 : how); // a signal is passed on
    return true;
  }

  static bool enters_call(pid_t thread) {
    __ptrace_syscall_info call{};
    ::ptrace(PTRACE_GET_SYSCALL_INFO, thread, sizeof call, &call);
    return call.op == PTRACE_SYSCALL_INFO_ENTRY;
  }

  std::set<pid_t> awaited_; // threads that have not stopped for the first time
  std::uint64_t calls_ = 0;
};

} // namespace

std::optional<std::uint64_t> count_system_calls(const std::vector<pid_t>& children,
                                                const std::function<void()>& begin,
                                                const std::function<bool()>& done) {
  std::optional<std::uint64_t> result;
  std::thread{[&] {
    tracer here;
    if (!here.attach(children))
      return;
    begin();
    result = here.count_until(done);
  }}.join();
  return result;
}

} // namespace pubsub::tool::bench
