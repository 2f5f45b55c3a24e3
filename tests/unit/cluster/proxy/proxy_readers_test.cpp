// SPDX-License-Identifier: BSD-3-Clause
#include "cluster/proxy/proxy_readers.hpp"

#include <pubsub/log.hpp>

#include <doctest/doctest.h>

#include <vector>

using namespace pubsub;
using namespace pubsub::cluster;
using namespace std::chrono_literals;

namespace {

constexpr proxy_readers::clock::time_point start{};

void wait_in_vain(proxy_readers& x, std::string_view topic) {
  x.begin_waiting(topic, start);
  x.end_waiting(start);
}

/// Connections whose waiting data the test decides.
class readers_with_queues {
public:
  readers_with_queues() {
    set_log_hook([this](log_level, std::string_view line) { said_.emplace_back(line); });
  }
  ~readers_with_queues() { set_log_hook({}); }

  std::map<int, int> waiting;
  proxy_readers readers{500ms,
                        {[](int fd) { return "10.0.0." + std::to_string(fd) + ":1"; },
                         [this](int fd) { return waiting[fd]; }}};

  void add(int fd, std::initializer_list<const char*> prefixes) {
    readers.connected(fd, {});
    for (const auto* each : prefixes)
      readers.note(fd, {true, each}, {});
  }
  void wait_in_vain(std::string_view topic) { ::wait_in_vain(readers, topic); }
  const std::vector<std::string>& said() const noexcept { return said_; }

private:
  std::vector<std::string> said_;
};

} // namespace

TEST_CASE("readers and their subscriptions are counted until they go") {
  proxy_readers x{500ms, {[](int fd) { return fd == 3 ? "" : "a"; }, [](int) { return 0; }}};
  x.connected(1, {});
  x.connected(2, {});
  for (const auto* each : {"a", "b", "a"})
    x.note(1, {true, each}, {});
  x.note(2, {true, "a"}, {});
  x.note(2, {false, "unknown"}, {});
  x.note(3, {true, "of nobody"}, {});
  CHECK(x.size() == 2);
  CHECK(x.subscriptions() == 3);
  x.note(1, {false, "b"}, {});
  CHECK(x.subscriptions() == 2);
  x.lost(1);
  x.lost(1);
  CHECK(x.size() == 1);
  CHECK(x.subscriptions() == 1);
}

TEST_CASE("a subscription may be known before its connection is") {
  proxy_readers x{500ms, {[](int) { return "a"; }, [](int) { return 0; }}};
  x.note(1, {true, "a"}, {});
  CHECK(x.size() == 1);
  x.connected(1, {});
  CHECK(x.subscriptions() == 1);
  x.connected(1, {}); // another one with this number
  CHECK(x.size() == 1);
  CHECK(x.subscriptions() == 0);
}

TEST_CASE("who has data waiting and would get the message is slow, and loses what it would get") {
  readers_with_queues x;
  x.add(1, {"zeek.cluster.node.worker-1.", "zeek.cluster.worker"});
  x.add(2, {"zeek.cluster.worker"});
  x.add(3, {"other"});
  x.waiting = {{1, 1000}, {3, 1000}};
  x.wait_in_vain("zeek.cluster.worker");
  CHECK(x.readers.slow() == 1);
  CHECK(x.readers.dropped() == 1);
  x.readers.count_dropped("zeek.cluster.worker.more");
  x.readers.count_dropped("zeek.cluster");
  x.readers.count_dropped("other");
  CHECK(x.readers.dropped() == 2);
  REQUIRE(x.said().size() == 1);
  CHECK(x.said()[0] == "the reader at 10.0.0.1:1 (worker-1) does not read: it loses messages until "
                       "it does");
}

TEST_CASE("a slow reader is slow no more once it has taken half, or is gone") {
  readers_with_queues x;
  for (const int fd : {1, 2})
    x.add(fd, {""});
  x.waiting = {{1, 1000}, {2, 1000}};
  x.wait_in_vain("a");
  CHECK(x.readers.slow() == 2);
  x.waiting[1] = 501;
  x.readers.look_again();
  CHECK(x.readers.slow() == 2);
  x.waiting[1] = 500;
  x.readers.look_again();
  CHECK(x.readers.slow() == 1);
  CHECK(x.said().back() == "the reader at 10.0.0.1:1 reads again; messages that it lost: 1");
  x.readers.lost(2);
  CHECK(x.readers.slow() == 0);
  CHECK(x.said().back() == "the reader at 10.0.0.2:1 is gone; messages that it lost: 1");
  CHECK(x.readers.times_slow() == 2);
  CHECK(x.readers.dropped() == 2);
}

TEST_CASE("a message that was dropped counts although nobody is to blame") {
  readers_with_queues x;
  x.add(1, {"a"});
  x.wait_in_vain("a");
  CHECK(x.readers.slow() == 0);
  CHECK(x.readers.dropped() == 1);
  x.waiting[1] = 10;
  x.wait_in_vain("a");
  x.readers.count_dropped("a"); // as before each message,
  x.wait_in_vain("a");          // so that the same one does not count twice
  CHECK(x.readers.dropped() == 3);
}

TEST_CASE("a topic is found below the prefixes that sort before it, however many they are") {
  proxy_readers x{500ms, {[](int) { return "a"; }, [](int) { return 1; }}};
  x.connected(1, {});
  for (const auto* each : {"a", "ab", "abc/x", "abd", "b", "zz"})
    x.note(1, {true, each}, {});
  wait_in_vain(x, "b");
  std::uint64_t expected = 1;
  for (const auto* topic : {"a", "abc", "abc/w", "abc/x/y", "abd", "abz", "b", "bz", "zzz"}) {
    x.count_dropped(topic);
    CHECK(x.dropped() == ++expected);
  }
  for (const auto* topic : {"", "c", "z", "z/z", "A"}) {
    x.count_dropped(topic);
    CHECK(x.dropped() == expected);
  }
}

TEST_CASE("who reads is waited for, and who does not as long as there is patience") {
  readers_with_queues x;
  x.add(1, {"a"});
  x.add(2, {"a"});
  x.add(3, {"other"});
  x.waiting = {{1, 1000}, {3, 1000}};
  x.readers.begin_waiting("a", start);
  CHECK(x.readers.deserve_more(start + 499ms));
  x.waiting[1] = 999;
  CHECK(x.readers.deserve_more(start + 600ms));
  CHECK(x.readers.deserve_more(start + 1099ms));
  CHECK_FALSE(x.readers.deserve_more(start + 1100ms));
  x.readers.end_waiting(start + 1100ms);
  CHECK(x.readers.slow() == 1);
  x.readers.begin_waiting("a", start + 1101ms);
  CHECK(x.readers.deserve_more(start +
                               1131ms)); // this reader is passed over: another one has no room
  const auto later = start + 1132ms;
  x.waiting[1] = 998;
  x.readers.begin_waiting("a", later);
  CHECK(x.readers.deserve_more(later + 24ms)); // others may only need a moment
  CHECK_FALSE(x.readers.deserve_more(later + 25ms));
  x.waiting[2] = 1000; // with this one there is patience still
  CHECK(x.readers.deserve_more(later + 26ms));
  CHECK(x.readers.deserve_more(later + 525ms));
  x.waiting[2] = 0;
  CHECK_FALSE(x.readers.deserve_more(later + 540ms));
}

TEST_CASE("where nobody has data waiting, patience ends too") {
  readers_with_queues x;
  x.add(1, {"a"});
  x.readers.begin_waiting("a", start);
  CHECK(x.readers.deserve_more(start + 499ms));
  CHECK_FALSE(x.readers.deserve_more(start + 500ms));
}
