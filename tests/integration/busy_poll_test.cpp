// The low-latency mode: threads that wait for messages serve the links themselves.
#include "support/nodes.hpp"

#include <thread>

using namespace pubsub;
using namespace pubsub::test;
using namespace std::chrono_literals;

namespace {

endpoint_options polling() {
  endpoint_options options;
  options.busy_poll = true;
  return options;
}

} // namespace

TEST_CASE("two waiting threads pass a message to and fro") {
  chain nodes{2, polling()};
  auto requests = nodes.back().make_subscriber({"/request"});
  auto replies = nodes.front().make_subscriber({"/reply"});
  REQUIRE(nodes.front().wait_for_subscribers("/request", 1, patience));
  REQUIRE(nodes.back().wait_for_subscribers("/reply", 1, patience));
  std::thread echo{[&] {
    while (auto msg = requests.get())
      nodes.back().publish("/reply", get_data(msg));
  }};
  for (std::uint64_t i = 0; i < 1000; ++i) {
    nodes.front().publish("/request", count{i});
    CHECK(next_number(replies) == i);
  }
  requests.close(); // ends a wait that polls
  echo.join();
}

TEST_CASE("messages arrive although nobody waits, and after somebody has waited") {
  chain nodes{2, polling()};
  auto sub = nodes.back().make_subscriber({"/t"});
  REQUIRE(nodes.front().wait_for_subscribers("/t", 1, patience));
  for (std::uint64_t i = 0; i < 3; ++i) {
    nodes.front().publish("/t", count{i});
    CHECK(eventually([&] { return sub.available() == 1; }));
    CHECK(next_number(sub) == i);
    CHECK(!sub.get(1ms));
  }
}

TEST_CASE("several threads that poll, and one that streams, lose and reorder nothing") {
  constexpr std::uint64_t messages = 50'000;
  auto options = polling();
  options.io_threads = 2;
  options.link_queue = {overflow_policy::block, 100, 1 << 20};
  chain nodes{3, options};
  auto one = nodes.back().make_subscriber({"/t"}, {overflow_policy::block, 50, 1 << 20});
  auto other = nodes.back().make_subscriber({"/t"});
  REQUIRE(other.wait_ready(patience));
  std::thread publisher{[&] {
    for (std::uint64_t i = 0; i < messages; ++i)
      nodes.front().publish("/t", count{i});
  }};
  std::thread reader{[&] { CHECK(receives_in_order(one, messages)); }};
  CHECK(receives_in_order(other, messages));
  reader.join();
  publisher.join();
}

TEST_CASE("closing ends threads that poll") {
  auto nodes = std::make_unique<chain>(2, polling());
  auto sub = nodes->back().make_subscriber({"/t"});
  std::thread waiting{[&] { CHECK(!sub.get()); }};
  nodes->back().close();
  waiting.join();
  CHECK(sub.closed());
}
