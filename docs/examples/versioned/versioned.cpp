// Three servers that hold the same messages under the same versions, and a client.
#include <chrono>
#include <cstdio>
#include <string>

#include <pubsub/pattern/versioned.hpp>

int main() {
  using namespace std::chrono_literals;

  pubsub::endpoint node; // three hosts, linked in any way, do as well
  auto one = pubsub::replica::open(node, "accounts");
  auto two = pubsub::replica::open(node, "accounts");
  auto three = pubsub::replica::open(node, "accounts");
  auto group = pubsub::versioned_group::open(node, "accounts");
  if (!one || !two || !three || !group)
    return std::fprintf(stderr, "the endpoint is closed\n"), 1;
  if (!group->wait_for_replicas(3, 10s))
    return std::fprintf(stderr, "%zu of 3 replicas are members\n", group->replicas()), 4;

  auto version = group->send("open alice"); // waits until all three hold it
  if (!version)
    return std::fprintf(stderr, "%s\n", version.error().message().c_str()), 1;

  for (auto* server : {&one, &two, &three}) {
    auto message = (*server)->get();
    std::printf("%s: %.*s\n", to_string(message->version).c_str(),
                static_cast<int>(message->value.as_string().size()),
                message->value.as_string().data());
  }
}
