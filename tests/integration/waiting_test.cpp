// Threads that wait for messages serve the links themselves.
// SPDX-License-Identifier: BSD-3-Clause
#include "support/nodes.hpp"
#include "support/published.hpp"

#include <thread>

using namespace pubsub;
using namespace pubsub::test;
using namespace std::chrono_literals;

namespace {

/// Answers requests at one end of a chain, from a thread of its own.
class echo {
public:
  explicit echo(endpoint& at)
      : at_(at), requests_(at.make_subscriber({"/request"})), thread_{[this] {
          while (auto msg = requests_.get())
            sent(at_.publish("/reply", get_data(*msg)));
        }} {}
  ~echo() {
    requests_.close(); // ends a wait that serves links
    thread_.join();
  }

private:
  endpoint& at_;
  subscriber requests_;
  std::thread thread_;
};

/// Sends so many requests, each after the reply to the one before: so the waits become brief.
void ask(endpoint& at, subscriber& replies, std::uint64_t requests) {
  REQUIRE(at.wait_for_subscribers("/request", 1, patience));
  for (std::uint64_t i = 0; i < requests; ++i) {
    sent(at.publish("/request", count{i}));
    CHECK(next_number(replies) == i);
  }
}

constexpr std::uint64_t enough = 1000;

} // namespace

TEST_CASE("two waiting threads pass a message to and fro") {
  chain nodes{2};
  auto replies = nodes.front().make_subscriber({"/reply"});
  REQUIRE(nodes.back().wait_for_subscribers("/reply", 1, patience));
  const echo other{nodes.back()};
  ask(nodes.front(), replies, enough);
}

TEST_CASE("messages arrive although nobody waits, and after somebody has waited") {
  chain nodes{2};
  auto sub = nodes.back().make_subscriber({"/t"});
  REQUIRE(nodes.front().wait_for_subscribers("/t", 1, patience));
  for (std::uint64_t i = 0; i < 3; ++i) {
    sent(nodes.front().publish("/t", count{i}));
    CHECK(eventually([&] { return sub.available() == 1; }));
    CHECK(next_number(sub) == i);
    CHECK(!sub.get_for(1ms));
  }
}

TEST_CASE("several threads that wait, and one that streams, lose and reorder nothing") {
  constexpr std::uint64_t messages = 50'000;
  endpoint_options options;
  options.link_queue = {overflow_policy::block, 100, 1 << 20};
  chain nodes{3, options};
  auto one = nodes.back().make_subscriber({"/t"}, {overflow_policy::block, 50, 1 << 20});
  auto other = nodes.back().make_subscriber({"/t"});
  REQUIRE(other.wait_ready(patience));
  REQUIRE(one.wait_ready(patience));
  std::thread publisher{[&] {
    for (std::uint64_t i = 0; i < messages; ++i)
      sent(nodes.front().publish("/t", count{i}));
  }};
  std::thread reader{[&] { CHECK(receives_in_order(one, messages)); }};
  CHECK(receives_in_order(other, messages));
  reader.join();
  publisher.join();
}

TEST_CASE("closing ends threads that wait") {
  auto nodes = std::make_unique<chain>(2);
  auto sub = nodes->back().make_subscriber({"/t"});
  std::thread waiting{[&] { CHECK(!sub.get()); }};
  nodes->back().close();
  waiting.join();
  CHECK(sub.closed());
}

TEST_CASE("closing ends a thread that serves the links") {
  chain nodes{2};
  auto replies = nodes.front().make_subscriber({"/reply"});
  REQUIRE(nodes.back().wait_for_subscribers("/reply", 1, patience));
  const echo other{nodes.back()};
  ask(nodes.front(), replies, enough);
  std::thread waiting{[&] { CHECK(!replies.get()); }};
  nodes.front().close();
  waiting.join();
}

TEST_CASE("a thread that serves the links gets what is published beside it") {
  chain nodes{2};
  auto replies = nodes.front().make_subscriber({"/reply"});
  REQUIRE(nodes.back().wait_for_subscribers("/reply", 1, patience));
  const echo other{nodes.back()};
  for (std::uint64_t i = 0; i < enough; ++i) {
    ask(nodes.front(), replies, 2);
    std::thread publisher{[&] { sent(nodes.front().publish("/reply", count{i})); }};
    CHECK(next_number(replies) == i);
    publisher.join();
  }
}

TEST_CASE("who has served the links and is busy now keeps nothing from the others") {
  chain nodes{3};
  auto& middle = *nodes.all[1];
  auto replies = middle.make_subscriber({"/reply"});
  auto beside = middle.make_subscriber({"/t"});
  auto behind = nodes.back().make_subscriber({"/t"});
  REQUIRE(beside.wait_ready(patience));
  REQUIRE(behind.wait_ready(patience));
  REQUIRE(nodes.back().wait_for_subscribers("/reply", 1, patience));
  const echo other{nodes.back()};
  for (std::uint64_t i = 0; i < 20; ++i) {
    ask(middle, replies, 50); // this thread has the loop, and does something else from here on
    sent(nodes.front().publish("/t", count{i}));
    CHECK(eventually([&] { return beside.available() == 1 && behind.available() == 1; }));
    CHECK(next_number(beside) == i);
    CHECK(next_number(behind) == i);
  }
}

TEST_CASE("many threads that wait briefly all get what is theirs") {
  constexpr std::size_t threads = 4;
  chain nodes{2};
  std::vector<std::unique_ptr<subscriber>> replies;
  for (std::size_t i = 0; i < threads; ++i)
    replies.push_back(std::make_unique<subscriber>(
        nodes.front().make_subscriber({"/reply/" + std::to_string(i)})));
  auto requests = nodes.back().make_subscriber({"/request"});
  REQUIRE(nodes.front().wait_for_subscribers("/request", 1, patience));
  for (std::size_t i = 0; i < threads; ++i)
    REQUIRE(nodes.back().wait_for_subscribers("/reply/" + std::to_string(i), 1, patience));
  std::thread server{[&] {
    while (auto msg = requests.get())
      sent(
          nodes.back().publish("/reply/" + std::string{get_topic(*msg).substr(9)}, get_data(*msg)));
  }};
  std::vector<std::thread> clients;
  for (std::size_t i = 0; i < threads; ++i)
    clients.emplace_back([&, i] {
      for (std::uint64_t n = 0; n < enough; ++n) {
        sent(nodes.front().publish("/request/" + std::to_string(i), count{n}));
        CHECK(next_number(*replies[i]) == n);
      }
    });
  for (auto& each : clients)
    each.join();
  requests.close();
  server.join();
}

TEST_CASE("a wait that serves the links ends at its time") {
  chain nodes{2};
  auto replies = nodes.front().make_subscriber({"/reply"});
  REQUIRE(nodes.back().wait_for_subscribers("/reply", 1, patience));
  const echo other{nodes.back()};
  ask(nodes.front(), replies, enough);
  CHECK(!replies.get_for(5ms));
  ask(nodes.front(), replies, enough);
}
