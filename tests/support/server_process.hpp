// Servers of other projects, run as children of a test on a free port.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/eventually.hpp"
#include "support/raw_socket.hpp"

namespace pubsub::test {

/// Where a program is: in PATH, or where Debian has those of servers. Nothing if it is missing.
inline std::optional<std::string> find_program(const std::string& name) {
  const char* path = std::getenv("PATH");
  std::string folders = (path != nullptr ? path : "") + std::string{":/usr/sbin:/usr/local/sbin"};
  for (std::size_t at = 0; at < folders.size();) {
    const auto end = std::min(folders.find(':', at), folders.size());
    const auto file = folders.substr(at, end - at) + "/" + name;
    if (::access(file.c_str(), X_OK) == 0)
      return file;
    at = end + 1;
  }
  return {};
}

/// A program that is killed with the test, or when the object goes. What it says is not shown.
class server_process {
public:
  server_process(std::string program, std::vector<std::string> arguments)
      : program_(std::move(program)), arguments_(std::move(arguments)) {
    start();
  }
  server_process(const server_process&) = delete;
  server_process& operator=(const server_process&) = delete;
  ~server_process() { kill(); }

  void kill() {
    if (pid_ <= 0)
      return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }
  /// Once more with the same arguments.
  void start() {
    std::vector<char*> all{program_.data()};
    for (auto& each : arguments_)
      all.push_back(each.data());
    all.push_back(nullptr);
    const auto parent = ::getpid();
    pid_ = ::fork();
    if (pid_ < 0)
      throw std::runtime_error{std::string{"fork: "} + std::strerror(errno)};
    if (pid_ == 0)
      become(all.data(), parent);
  }
  void stop() { ::kill(pid_, SIGSTOP); }
  void go_on() { ::kill(pid_, SIGCONT); }

  /// Whether a connection to `port` is taken.
  static bool answers(std::uint16_t port) {
    const unique_fd one{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    const auto where = raw_socket::loopback(port);
    return ::connect(one.get(), reinterpret_cast<const sockaddr*>(&where), sizeof where) == 0;
  }

private:
  /// Only calls that are safe between fork and exec.
  [[noreturn]] void become(char* const* all, pid_t parent) const {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent)
      ::_exit(127);
    const int nowhere = ::open("/dev/null", O_RDWR);
    for (const int each : {0, 1, 2})
      ::dup2(nowhere, each);
    ::execv(program_.c_str(), all);
    ::_exit(127);
  }

  std::string program_;
  std::vector<std::string> arguments_;
  pid_t pid_ = -1;
};

} // namespace pubsub::test
