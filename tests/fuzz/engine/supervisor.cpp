#include "fuzz/engine/supervisor.hpp"

#include <cstring>
#include <new>

#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

namespace pubsub::fuzz {

namespace {

std::string cause_of(int status, bool hung) {
  if (hung)
    return "an input took too long";
  if (WIFSIGNALED(status))
    return std::string{"ended by signal "} + std::to_string(WTERMSIG(status)) + " (" +
           ::strsignal(WTERMSIG(status)) + ")";
  if (WEXITSTATUS(status) != 0)
    return "ended with status " + std::to_string(WEXITSTATUS(status));
  return {};
}

/// The status of the child; kills it, and says so, where nothing moves.
int wait_for(pid_t child, const progress& shared, std::chrono::seconds patience, bool& hung) {
  using clock = std::chrono::steady_clock;
  std::uint64_t seen = 0;
  auto moved = clock::now();
  int status = 0;
  while (::waitpid(child, &status, WNOHANG) == 0) {
    if (const auto now = shared.executions.load(); now != seen) {
      seen = now;
      moved = clock::now();
    } else if (!hung && clock::now() - moved > patience) {
      hung = true;
      ::kill(child, SIGKILL);
    }
    ::poll(nullptr, 0, 10);
  }
  return status;
}

} // namespace

verdict supervise(const std::function<void(progress&)>& work, std::chrono::seconds patience) {
  auto* const memory =
      ::mmap(nullptr, sizeof(progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    throw std::bad_alloc{};
  auto& shared = *new (memory) progress;
  const auto child = ::fork();
  if (child < 0)
    throw std::bad_alloc{};
  if (child == 0) {
    work(shared);
    ::exit(0); // not _exit: coverage is written at the end
  }
  bool hung = false;
  const auto status = wait_for(child, shared, patience, hung);
  verdict result{shared.executions, shared.edges, shared.corpus, cause_of(status, hung), {}};
  if (!result.cause.empty())
    result.input.assign(shared.input, shared.input_bytes);
  ::munmap(memory, sizeof(progress));
  return result;
}

} // namespace pubsub::fuzz
