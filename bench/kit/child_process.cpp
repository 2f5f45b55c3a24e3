// SPDX-License-Identifier: BSD-3-Clause
#include "kit/child_process.hpp"

#include <cerrno>
#include <csignal>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace pubsub::tool::bench {

namespace {

struct pipe_ends {
  int read = -1;
  int write = -1;
};

pipe_ends make_pipe() {
  int fds[2];
  if (::pipe2(fds, O_CLOEXEC) != 0)
    throw std::system_error(errno, std::generic_category(), "pipe");
  return {fds[0], fds[1]};
}

// Between fork and exec: only calls that are safe there.
[[noreturn]] void become(const char* program, char** arguments, int input, int output,
                         pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent)
    ::_exit(127); // the parent died before the line above
  ::dup2(input, STDIN_FILENO);
  ::dup2(output, STDOUT_FILENO);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::execv(program, arguments);
  ::_exit(127);
}

std::string describe_ending(int status) {
  if (WIFSIGNALED(status))
    return "signal " + std::to_string(WTERMSIG(status));
  return "exit status " + std::to_string(WEXITSTATUS(status));
}

} // namespace

child_process::child_process(std::string name, std::string program,
                             const std::vector<std::string>& arguments)
    : name_(std::move(name)) {
  std::vector<std::string> copies = arguments;
  std::vector<char*> argv{program.data()};
  for (auto& argument : copies)
    argv.push_back(argument.data());
  argv.push_back(nullptr);
  auto to_child = make_pipe();
  auto from_child = make_pipe();
  auto parent = ::getpid();
  pid_ = ::fork();
  if (pid_ == 0)
    become(program.c_str(), argv.data(), to_child.read, from_child.write, parent);
  auto failure = errno;
  ::close(to_child.read);
  ::close(from_child.write);
  input_ = to_child.write;
  output_ = from_child.read;
  if (pid_ < 0) {
    ::close(input_);
    ::close(output_);
    throw std::system_error(failure, std::generic_category(), "fork");
  }
  ::fcntl(output_, F_SETFL, O_NONBLOCK);
}

child_process::child_process(child_process&& other) noexcept
    : name_(std::move(other.name_)), pid_(std::exchange(other.pid_, -1)),
      input_(std::exchange(other.input_, -1)), output_(std::exchange(other.output_, -1)),
      buffer_(std::move(other.buffer_)), finished_(other.finished_),
      ending_(std::move(other.ending_)) {}

child_process::~child_process() {
  ask_to_end();
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  if (output_ >= 0)
    ::close(output_);
}

void child_process::suspend() noexcept {
  if (pid_ > 0)
    ::kill(pid_, SIGSTOP);
}

void child_process::resume() noexcept {
  if (pid_ > 0)
    ::kill(pid_, SIGCONT);
}

void child_process::tell(std::string line) noexcept {
  line += '\n';
  // Shorter than the pipe; where the child has ended, what it does not report tells.
  if (input_ >= 0 && ::write(input_, line.data(), line.size()) < 0)
    ask_to_end();
}

void child_process::ask_to_end() noexcept {
  resume();
  if (input_ >= 0)
    ::close(input_);
  input_ = -1;
}

std::optional<std::string> child_process::read_line() {
  for (;;) {
    if (auto end = buffer_.find('\n'); end != std::string::npos) {
      auto line = buffer_.substr(0, end);
      buffer_.erase(0, end + 1);
      return line;
    }
    char chunk[4096];
    auto n = ::read(output_, chunk, sizeof chunk);
    if (n > 0) {
      buffer_.append(chunk, static_cast<std::size_t>(n));
      continue;
    }
    if (n < 0 && errno == EINTR)
      continue;
    if (n == 0 || errno != EAGAIN)
      finished_ = true;
    return std::nullopt;
  }
}

std::string child_process::wait(const deadline& end) {
  if (pid_ <= 0)
    return ending_;
  int status = 0;
  auto handle = static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0));
  if (handle >= 0) {
    pollfd entry{handle, POLLIN, 0};
    auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(left_until(end)).count();
    if (::poll(&entry, 1, static_cast<int>(ms)) == 0)
      ::kill(pid_, SIGKILL);
    ::close(handle);
  } else {
    ::kill(pid_, SIGKILL); // a kernel without pidfd_open: do not risk waiting without end
  }
  ::waitpid(pid_, &status, 0);
  pid_ = -1;
  return ending_ = describe_ending(status);
}

} // namespace pubsub::tool::bench
