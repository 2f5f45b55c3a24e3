// Broker before 2.3 (Zeek 4 and older), which speaks another protocol on the same ports.
// SPDX-License-Identifier: BSD-3-Clause
#include "support/nodes.hpp"
#include "support/raw_socket.hpp"

#include <atomic>
#include <ctime>
#include <mutex>

#include <pubsub/log.hpp>

using namespace pubsub;
using namespace pubsub::test;
using namespace std::chrono_literals;

namespace {

/// What Broker 1.4 says as soon as it is connected, without TLS: 32 bytes that tell the kind of
/// message (1) and how long the rest is (32), then its id and the application's version. Then it
/// waits for an answer of the same kind.
const std::string first_words_of_1_4 =
    "0100000000000020 0000000000000000 0000000000000000 0000000000000000 "
    "00003e9aab9bac79 00002aefbffadf3a c9f1142f6446ca70 6c9bb0f69b114400";

/// What the library logs about old Brokers while it lives.
struct log_lines {
  log_lines() {
    set_log_hook([this](log_level level, std::string_view line) {
      std::lock_guard lock{mutex};
      lines_ += line.find("Broker before 2.3") != line.npos;
      warnings_ += level == log_level::warning;
    });
  }
  ~log_lines() { set_log_hook({}); }
  std::size_t all() {
    std::lock_guard lock{mutex};
    return lines_;
  }
  std::size_t warnings() {
    std::lock_guard lock{mutex};
    return warnings_;
  }

private:
  std::mutex mutex; // guards the following
  std::size_t lines_ = 0;
  std::size_t warnings_ = 0;
};

std::chrono::nanoseconds time_used() {
  timespec used{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return std::chrono::seconds{used.tv_sec} + std::chrono::nanoseconds{used.tv_nsec};
}

} // namespace

TEST_CASE("an old Broker is turned away at once, and the log says what it is") {
  log_lines log;
  for (const bool at_once : {true, false}) {
    endpoint ep;
    const auto port = *ep.listen("tcp://127.0.0.1:0");
    auto wire = raw_socket::connect(port);
    const auto words = from_hex(first_words_of_1_4);
    if (at_once)
      CHECK(wire.send(words));
    for (std::size_t i = 0; !at_once && i < 8; ++i)
      wire.send(std::span{words}.subspan(i, 1)); // it may be closed before the last
    const auto before = std::chrono::steady_clock::now();
    CHECK(wire.closed_by_peer());
    CHECK(std::chrono::steady_clock::now() - before < 5s); // not after the handshake's time
    endpoint good;
    CHECK(good.peer(local_uri(port)));
  }
  CHECK(eventually([&] { return log.all() == 2; }));
  CHECK(log.warnings() == 2);
}

TEST_CASE("old Brokers that come again and again keep no thread busy, and do not flood the log") {
  log_lines log;
  endpoint ep;
  const auto port = *ep.listen("tcp://127.0.0.1:0");
  for (int round = 0; round < 20; ++round) {
    auto wire = raw_socket::connect(port);
    CHECK(wire.send(first_words_of_1_4));
    CHECK(wire.closed_by_peer());
  }
  CHECK(eventually([&] { return log.all() == 20; }));
  CHECK(log.warnings() < 20); // one a second
  const auto before = time_used();
  CHECK_FALSE(eventually([&] { return log.all() > 20; }, 500ms));
  CHECK(time_used() - before < 250ms); // a thread that spins would have used all of it
}
