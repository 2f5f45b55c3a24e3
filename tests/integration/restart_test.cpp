// Processes that die: a relay is killed and another takes its place on the same port.
// SPDX-License-Identifier: BSD-3-Clause
#include "support/nodes.hpp"
#include "support/published.hpp"
#include "support/raw_socket.hpp"

#include <csignal>
#include <cstdlib>

#include <fcntl.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace pubsub;
using namespace pubsub::test;
using namespace std::chrono_literals;

namespace {

constexpr const char* port_variable = "PUBSUB_TEST_RELAY_PORT";

/// This very executable, started again to run only the test case below. Killed when it goes.
class relay_process {
public:
  explicit relay_process(std::uint16_t port) {
    ::setenv(port_variable, std::to_string(port).c_str(), 1);
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    std::string name = "relay";
    std::string only = "-tc=a relay until it is killed";
    std::string skipped = "--no-skip";
    char* const arguments[] = {name.data(), only.data(), skipped.data(), nullptr};
    REQUIRE(::posix_spawn(&pid_, "/proc/self/exe", &actions, nullptr, arguments, environ) == 0);
    ::posix_spawn_file_actions_destroy(&actions);
  }
  relay_process(const relay_process&) = delete;
  relay_process& operator=(const relay_process&) = delete;
  ~relay_process() { kill(); }

  void kill() {
    if (pid_ <= 0)
      return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }

private:
  pid_t pid_ = -1;
};

} // namespace

// Not a test: the process the test below starts by name, and kills; skipped in an ordinary run.
TEST_CASE("a relay until it is killed" * doctest::skip()) {
  const auto* port = std::getenv(port_variable);
  REQUIRE(port != nullptr);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  endpoint relay;
  REQUIRE(relay.listen(std::string{"tcp://127.0.0.1:"} + port));
  while (true)
    ::pause();
}

TEST_CASE("a relay that is killed is lost, and its successor on the same port carries on") {
  const auto port = unused_port();
  endpoint publisher;
  endpoint far;
  auto events = publisher.make_status_subscriber();
  auto sub = far.make_subscriber({"/t"});
  std::uint64_t next = 0;
  for (int life = 0; life < 3; ++life) {
    relay_process relay{port};
    if (life == 0) {
      REQUIRE(publisher.peer(local_uri(port), soon));
      REQUIRE(far.peer(local_uri(port), soon));
    }
    const auto added = next_event(events, status_code::peer_added);
    REQUIRE(added);
    REQUIRE(publisher.wait_for_subscribers("/t", 1, patience));
    for (std::uint64_t i = 0; i < 1000; ++i)
      sent(publisher.publish("/t", count{next + i}));
    for (int i = 0; i < 1000; ++i)
      CHECK(next_number(sub) == next++);
    relay.kill();
    const auto lost = next_event(events, status_code::peer_lost);
    REQUIRE(lost);
    CHECK(lost->peer() == added->peer());
    CHECK(next_event(events, status_code::endpoint_unreachable)->peer() == added->peer());
    CHECK(publisher.subscribers("/t") == 0);
  }
  CHECK(sub.counters().offered == next);
}

TEST_CASE("while a relay is away attempts are reported and publishing says that nobody listens") {
  const auto port = unused_port();
  endpoint publisher;
  auto events = publisher.make_status_subscriber();
  relay_process relay{port};
  REQUIRE(publisher.peer(local_uri(port), soon));
  relay.kill();
  CHECK(next_event(events, status_code::peer_lost));
  CHECK(next_error(events)->failure() == errc::peer_unavailable);
  CHECK(publisher.peers().at(0).state == peer_state::lost);
  CHECK(publisher.publish("/t", count{1}) == publish_result::unwanted);
}
