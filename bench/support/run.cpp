// SPDX-License-Identifier: BSD-3-Clause
#include "support/run.hpp"

#include "support/memory.hpp"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace bench {

namespace {

constexpr int failed_status = 2;
constexpr int lost_status = 3;
constexpr unsigned spare_seconds = 40; // for starting, and for what is on its way at the end

std::string sentence_about(std::string_view peer, std::string_view text) {
  return std::string{peer} + ": " + std::string{text} + "\n";
}

int guarded(std::string_view peer, const std::function<void()>& part) {
  try {
    part();
    return 0;
  } catch (const std::exception& problem) {
    std::fputs(sentence_about(peer, problem.what()).c_str(), stderr);
    return failed_status;
  }
}

run_state& shared_state() {
  auto memory =
      ::mmap(nullptr, sizeof(run_state), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    throw std::system_error(errno, std::generic_category(), "mmap");
  return *new (memory) run_state{};
}

// The processes of a chain. Those left over die with this one.
class process_group {
public:
  explicit process_group(std::string_view peer) : peer_(peer) {}
  process_group(const process_group&) = delete;
  process_group& operator=(const process_group&) = delete;
  ~process_group() {
    for (auto pid : pids_)
      ::kill(pid, SIGKILL);
    for (auto pid : pids_)
      ::waitpid(pid, nullptr, 0);
  }

  void start(const std::function<void()>& part) {
    auto parent = ::getpid();
    auto pid = ::fork();
    if (pid < 0)
      throw std::system_error(errno, std::generic_category(), "fork");
    if (pid > 0) {
      pids_.push_back(pid);
      all_.push_back(pid);
      return;
    }
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    auto status = ::getppid() == parent ? guarded(peer_, part) : failed_status;
    std::fflush(nullptr);
    ::_exit(status); // no destructors of the parent's objects
  }

  // Waits for the first process; returns its status, or that of another one which failed before.
  int wait_for_first() {
    for (;;) {
      int status = 0;
      auto pid = ::waitpid(-1, &status, 0);
      if (pid < 0)
        return failed_status;
      auto code = WIFEXITED(status) ? WEXITSTATUS(status) : failed_status;
      bool first = pid == pids_.front();
      std::erase(pids_, pid);
      if (first || code != 0)
        return code;
    }
  }

  // Of those that still run, in the order of their starting; others keep what they have told.
  void note_memory(run_state& state) const {
    for (std::size_t stage = 0; stage < all_.size(); ++stage)
      if (auto bytes = peak_memory_bytes(std::to_string(all_[stage])); bytes > 0)
        state.peak_bytes[stage] = bytes;
  }

private:
  std::string_view peer_;
  std::vector<pid_t> pids_; // those that have not ended
  std::vector<pid_t> all_;
};

int run_processes(std::string_view peer, const run_options& options, const roles& parts,
                  run_state& state) {
  process_group group{peer};
  group.start([&] { parts.subscribe(state); });
  for (unsigned stage = 1; stage <= options.relays; ++stage)
    group.start([&] { parts.relay(state, stage); });
  group.start([&] { parts.publish(state); });
  auto status = group.wait_for_first();
  group.note_memory(state);
  return status;
}

// A thread that fails ends the program: the other one would wait for it.
int run_threads(std::string_view peer, const roles& parts, run_state& state) {
  auto start = [&](const std::function<void(run_state&)>& part) {
    return std::thread{[&state, &part, peer] {
      if (auto status = guarded(peer, [&] { part(state); }); status != 0)
        std::_Exit(status);
    }};
  };
  auto subscriber = start(parts.subscribe);
  auto publisher = start(parts.publish);
  publisher.join();
  subscriber.join();
  return 0;
}

// Processor time of this process and of those that it has started, which have ended.
double processor_ns() {
  double sum = 0;
  for (auto who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage usage{};
    ::getrusage(who, &usage);
    for (const auto& x : {usage.ru_utime, usage.ru_stime})
      sum += static_cast<double>(x.tv_sec) * 1e9 + static_cast<double>(x.tv_usec) * 1e3;
  }
  return sum;
}

std::string describe_pipeline(const run_options& options, const run_state& state) {
  auto bytes = [&](unsigned stage) { return std::to_string(state.peak_bytes[stage].load()); };
  std::string workers;
  for (unsigned stage = 1; stage <= options.relays; ++stage)
    workers += (stage > 1 ? "," : "") + bytes(stage);
  return ",\"in_flight_max\":" + std::to_string(state.in_flight_max.load()) +
         ",\"sink_bytes\":" + bytes(0) + ",\"worker_bytes\":[" + workers +
         "],\"ventilator_bytes\":" + bytes(options.relays + 1);
}

int report(std::string_view peer, std::string_view version, const run_options& options,
           const run_state& state) {
  auto published = state.published.load();
  auto delivered = state.delivered.load();
  auto seconds = state.seconds.load();
  auto lost = published > delivered ? published - delivered : 0;
  auto rate = seconds > 0 ? static_cast<double>(delivered) / seconds : 0.0;
  auto cpu_ns = delivered > 0 ? processor_ns() / static_cast<double>(delivered) : 0.0;
  std::printf("{\"peer\":\"%.*s\",\"version\":\"%.*s\",\"msgs_per_s\":%.1f,\"published\":%llu,"
              "\"delivered\":%llu,\"lost\":%llu,\"disordered\":%llu,\"cpu_ns\":%.1f%s}\n",
              static_cast<int>(peer.size()), peer.data(), static_cast<int>(version.size()),
              version.data(), rate, static_cast<unsigned long long>(published),
              static_cast<unsigned long long>(delivered), static_cast<unsigned long long>(lost),
              static_cast<unsigned long long>(state.disordered.load()), cpu_ns,
              state.in_flight_max > 0 ? describe_pipeline(options, state).c_str() : "");
  std::fflush(stdout);
  return published == delivered && state.disordered == 0 ? 0 : lost_status;
}

} // namespace

int report_unavailable(std::string_view peer, std::string_view reason) {
  std::printf("{\"peer\":\"%.*s\",\"unavailable\":\"%.*s\"}\n", static_cast<int>(peer.size()),
              peer.data(), static_cast<int>(reason.size()), reason.data());
  std::fflush(stdout);
  return 0;
}

int run(std::string_view peer, std::string_view version, const run_options& options,
        const roles& parts) {
  std::signal(SIGPIPE, SIG_IGN);
  ::alarm(static_cast<unsigned>(options.duration_s) + spare_seconds);
  auto& state = shared_state();
  auto status = options.local() ? run_threads(peer, parts, state)
                                : run_processes(peer, options, parts, state);
  return status == 0 ? report(peer, version, options, state) : status;
}

} // namespace bench
