// SPDX-License-Identifier: BSD-3-Clause
#include <doctest/doctest.h>

#include <csignal>

#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "studies/call_counter.hpp"

using pubsub::tool::bench::count_system_calls;

namespace {

/// A process that makes a hundred system calls for each byte it gets, then answers. It is ready to
/// be counted when the constructor returns: its next call is the read it waits in.
class caller {
public:
  caller() {
    REQUIRE(::pipe(to_) == 0);
    REQUIRE(::pipe(from_) == 0);
    pid_ = ::fork();
    if (pid_ == 0) {
      ::close(to_[1]);
      char byte = 0;
      bool heard = ::write(from_[1], &byte, 1) == 1; // ready
      while (heard && ::read(to_[0], &byte, 1) == 1) {
        for (int i = 0; i < 100; ++i)
          ::syscall(SYS_getppid);
        heard = ::write(from_[1], &byte, 1) == 1;
      }
      ::_exit(0);
    }
    ::close(to_[0]);
    ::close(from_[1]);
    take_answer();
  }
  ~caller() {
    ::close(to_[1]);
    ::waitpid(pid_, nullptr, 0);
    ::close(from_[0]);
  }

  pid_t pid() const { return pid_; }
  void ask() const { CHECK(::write(to_[1], "x", 1) == 1); }
  bool answered() const {
    pollfd entry{from_[0], POLLIN, 0};
    return ::poll(&entry, 1, 0) == 1;
  }
  void take_answer() const {
    char byte = 0;
    CHECK(::read(from_[0], &byte, 1) == 1);
  }

private:
  int to_[2] = {-1, -1};
  int from_[2] = {-1, -1};
  pid_t pid_ = -1;
};

} // namespace

TEST_CASE("system calls of two processes are counted, and they go on afterwards") {
  const caller one;
  const caller two;
  auto ask = [&] {
    one.ask();
    two.ask();
  };
  const auto calls = count_system_calls({one.pid(), two.pid()}, ask,
                                        [&] { return one.answered() && two.answered(); });
  if (!calls) {
    MESSAGE("processes cannot be traced here");
    ask();
  } else {
    CHECK(*calls >= 202); // with the two answers
    CHECK(*calls <= 206); // and the reads they waited in
  }
  one.take_answer();
  two.take_answer();
  ask();
  one.take_answer();
  two.take_answer();
}

TEST_CASE("a process that has ended is not traced") {
  const auto ended = ::fork();
  if (ended == 0)
    ::_exit(0);
  ::waitpid(ended, nullptr, 0);
  auto begin = [] { CHECK(false); };
  CHECK_FALSE(count_system_calls({ended}, begin, [] { return true; }));
}
