// A service with two operations, and a client that calls them.
#include <chrono>
#include <cstdio>
#include <vector>

#include <pubsub/pattern/remote.hpp>

int main() {
  using namespace std::chrono_literals;

  pubsub::endpoint node; // as well two hosts, linked in any way
  auto squares = pubsub::service::open(node, "squares");
  auto client = pubsub::remote::open(node, "squares");
  if (!squares || !client)
    return std::fprintf(stderr, "an endpoint that is closed has neither\n"), 1;
  auto added =
      squares->add("square", [](const pubsub::data_view& x) -> pubsub::expected<pubsub::data> {
        if (x.type() != pubsub::data_type::count)
          return pubsub::error{pubsub::errc::type_clash, "a count, please"};
        return pubsub::data{pubsub::count{x.as_count() * x.as_count()}};
      });
  if (!added || !squares->start())
    return std::fprintf(stderr, "%s\n", added.error().message().c_str()), 1;
  if (!client->wait_for_instances(1, 10s))
    return std::fprintf(stderr, "no instance of 'squares' is within reach\n"), 4;

  auto one = client->call("square", pubsub::count{12}); // there and back
  std::printf("12: %s\n", to_string(*one).c_str());

  std::vector<pubsub::data> numbers;
  for (std::uint64_t i = 1; i <= 1'000; ++i)
    numbers.emplace_back(pubsub::count{i});
  auto all = client->map("square", numbers); // together, however that is fastest
  std::printf("1000: %s\n", to_string(*all.back()).c_str());

  auto wrong = client->call("square", "twelve");
  std::printf("twelve: %s\n", wrong.error().message().c_str());
}
