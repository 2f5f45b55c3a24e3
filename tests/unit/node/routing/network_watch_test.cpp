// SPDX-License-Identifier: BSD-3-Clause
#include "node/routing/network_watch.hpp"

#include <optional>
#include <vector>

#include <poll.h>

#include "node/routing/router.hpp"
#include "support/fake_link.hpp"
#include "support/ids.hpp"

#include <doctest/doctest.h>

using namespace pubsub;
using namespace pubsub::test;

namespace {

std::string text_of(const network_event& x) {
  std::string result{to_string(x.change)};
  result += " " + std::to_string(x.node.bytes()[0]);
  if (x.client)
    result += " client";
  if (!x.name.empty())
    result += " " + x.name;
  if (x.change == network_change::topic_added || x.change == network_change::topic_removed)
    result += " '" + x.topic + "'";
  return result;
}

using texts = std::vector<std::string>;

/// Nodes as the test says they are, and a reader.
struct made_up_network {
  struct node {
    std::uint64_t start = 1;
    std::set<std::string> topics;
    bool client = false;
  };

  auto look() {
    return [this](const endpoint_id& id, const auto& visit) {
      ++looks;
      const auto found = nodes.find(id.bytes()[0]);
      if (found == nodes.end())
        return visit(nullptr);
      const auto& x = found->second;
      const node_view view{"", x.start, x.client, !x.client, &x.topics};
      visit(&view);
    };
  }
  void touch(std::uint8_t id) { watch.touch(id_of(id)); }
  texts news() {
    texts result;
    while (const auto each = watch.pull(look(), immediately()))
      result.push_back(text_of(*each));
    return result;
  }
  bool readable() {
    pollfd p{watch.fd(), POLLIN, 0};
    return ::poll(&p, 1, 0) == 1;
  }

  std::map<std::uint8_t, node> nodes;
  network_watch watch;
  std::size_t looks = 0;
};

/// A router without sockets, and who watches it.
struct watched_router {
  watched_router() { begin(); }
  void begin() {
    watch = std::make_shared<network_watch>();
    routes.add_watch(watch);
  }
  std::shared_ptr<fake_link> make_link() {
    auto fresh = std::make_shared<fake_link>(loop);
    fresh->begin_messages(2, us, 1 << 20);
    return fresh;
  }
  void join(const endpoint_id& who, std::uint64_t start = 1,
            const std::vector<std::string>& topics = {}) {
    routes.add_neighbour(who, make_link());
    CHECK(routes.receive(who, neighbours_report{{who, start, 1, true}, true, {us}, {}}));
    CHECK(routes.receive(who, filter_report{{who, start, 1, true}, topics, {}}));
    routes.neighbour_ready(who);
  }
  /// A node behind this neighbour; `number`: of the report of the neighbour.
  void announce(const endpoint_id& neighbour, const endpoint_id& far, std::uint64_t start,
                const std::vector<std::string>& topics, std::uint64_t number) {
    CHECK(routes.receive(
        neighbour, neighbours_report{{neighbour, 1, number, true}, true, {us, far}, {}, "near"}));
    CHECK(routes.receive(neighbour,
                         neighbours_report{{far, start, 1, true}, true, {neighbour}, {}, "far"}));
    CHECK(routes.receive(neighbour, filter_report{{far, start, 1, true}, topics, {}}));
  }
  texts news() {
    texts result;
    const auto look = [this](const auto& node, auto visit) { routes.look_at(node, visit); };
    while (const auto each = watch->pull(look, immediately()))
      result.push_back(text_of(*each));
    return result;
  }

  std::shared_ptr<fake_loop> loop = std::make_shared<fake_loop>();
  router routes{us, {}, true};
  std::shared_ptr<network_watch> watch;
};

} // namespace

TEST_CASE("what a reader is told is the difference to what it knows, node by node") {
  made_up_network x;
  x.nodes[1].topics = {"/a", "/b"};
  x.touch(1);
  x.touch(2);
  CHECK(x.news() == texts{"node_added 1", "topic_added 1 '/a'", "topic_added 1 '/b'"});
  x.nodes[2];
  x.nodes[1].topics = {"/b", "/c"};
  x.touch(2);
  x.touch(1);
  CHECK(x.news() == texts{"node_added 2", "topic_removed 1 '/a'", "topic_added 1 '/c'"});
  x.nodes.erase(1);
  x.touch(1);
  CHECK(x.news() == texts{"node_lost 1"});
}

TEST_CASE("a node that has started again, or has another role, is lost and added") {
  made_up_network x;
  x.nodes[1] = {.start = 1, .topics = {"/a"}};
  x.touch(1);
  CHECK(x.news().size() == 2);
  x.nodes[1].start = 2;
  x.touch(1);
  CHECK(x.news() == texts{"node_lost 1", "node_added 1", "topic_added 1 '/a'"});
  x.nodes[1].client = true;
  x.touch(1);
  CHECK(x.news() == texts{"node_lost 1", "node_added 1 client", "topic_added 1 client '/a'"});
  x.nodes[1].start = 0; // it has not told, as long as another relay serves it
  x.nodes[1].topics = {};
  x.touch(1);
  CHECK(x.news() == texts{"topic_removed 1 client '/a'"});
  x.nodes[1].start = 2;
  x.touch(1);
  CHECK(x.news().empty());
  x.nodes[1].start = 3;
  x.touch(1);
  CHECK(x.news() == texts{"node_lost 1 client", "node_added 1 client"});
}

TEST_CASE("a topic that is wanted under several conditions is one topic") {
  made_up_network x;
  const std::string mark{condition_mark};
  x.nodes[1].topics = {"/a", "/a" + mark + "x", "/b" + mark + "x"};
  x.touch(1);
  CHECK(x.news() == texts{"node_added 1", "topic_added 1 '/a'", "topic_added 1 '/b'"});
  x.nodes[1].topics = {"/a" + mark + "y", "/b"};
  x.touch(1);
  CHECK(x.news().empty());
  const std::string zero{"/a\0a", 4}; // comes before the conditions on "/a"
  x.nodes[1].topics = {"/a", zero, "/a" + mark + "y", zero + mark + "y"};
  x.touch(1);
  CHECK(x.news().size() == 2); // "/b" goes, and one comes
  x.touch(1);
  CHECK(x.news().empty());
}

TEST_CASE("however often nodes change while nobody reads, each is looked at once") {
  made_up_network x;
  for (int round = 0; round < 1000; ++round) {
    x.nodes[1].start = static_cast<std::uint64_t>(round + 1);
    x.touch(1);
    x.nodes.erase(2);
    x.touch(2);
  }
  CHECK(x.news() == texts{"node_added 1"});
  CHECK(x.looks == 2);
}

TEST_CASE("the descriptor of a watch is readable while there may be an event, and once it ends") {
  made_up_network x;
  CHECK_FALSE(x.readable());
  x.nodes[1].topics = {"/a"};
  x.touch(1);
  CHECK(x.readable());
  CHECK(x.watch.pull(x.look(), immediately()));
  CHECK(x.readable()); // the topic
  CHECK(x.watch.available(x.look()));
  CHECK(x.watch.pull(x.look(), immediately()));
  CHECK_FALSE(x.readable());
  x.touch(1);
  CHECK(x.readable());
  CHECK_FALSE(x.watch.available(x.look())); // nothing has changed
  CHECK_FALSE(x.readable());
  x.nodes.clear();
  x.touch(1);
  x.watch.finish();
  CHECK(x.news() == texts{"node_lost 1"});
  CHECK(x.readable());
  CHECK(x.watch.pull(x.look(), immediately()).closed());
}

TEST_CASE("a watch that is closed forgets what has changed, and ends") {
  made_up_network x;
  x.nodes[1];
  x.touch(1);
  x.watch.discard();
  CHECK(x.news().empty());
  CHECK(x.watch.pull(x.look(), {}).closed());
  CHECK(x.readable());
}

TEST_CASE("a reader begins with the nodes within reach, and sees what changes behind others") {
  watched_router x;
  x.join(id_of(1), 1, {"/near"});
  CHECK(x.news() == texts{"node_added 1", "topic_added 1 '/near'"});
  x.announce(id_of(1), id_of(3), 7, {"/far"}, 2);
  CHECK(x.news() == texts{"node_added 3 far", "topic_added 3 far '/far'"});
  CHECK(x.routes.receive(id_of(1), filter_report{{id_of(3), 7, 2, false}, {"/more"}, {"/far"}}));
  CHECK(x.news() == texts{"topic_removed 3 far '/far'", "topic_added 3 far '/more'"});
  x.begin();
  auto all = x.news();
  CHECK(all.size() == 4);
  CHECK(std::ranges::find(all, "topic_added 3 far '/more'") != all.end());
  CHECK(
      x.routes.receive(id_of(1), neighbours_report{{id_of(1), 1, 3, false}, true, {}, {id_of(3)}}));
  CHECK(x.news() == texts{"node_lost 3 far"});
  x.routes.remove_peers({id_of(1)});
  CHECK(x.news() == texts{"node_lost 1 near"});
}

TEST_CASE("a node behind others that starts again while nobody reads is lost and added") {
  watched_router x;
  x.join(id_of(1));
  x.announce(id_of(1), id_of(3), 7, {"/a"}, 2);
  CHECK(x.news().size() == 3);
  x.announce(id_of(1), id_of(3), 8, {"/a"}, 3);
  CHECK(x.news() == texts{"node_lost 3 far", "node_added 3 far", "topic_added 3 far '/a'"});
}

TEST_CASE("a neighbour that comes back while nobody reads is no news, but one that has restarted") {
  watched_router x;
  x.join(id_of(1), 1, {"/a"});
  CHECK(x.news().size() == 2);
  x.routes.remove_peers({id_of(1)});
  x.join(id_of(1), 1, {"/a"});
  CHECK(x.news().empty());
  x.routes.remove_peers({id_of(1)});
  x.join(id_of(1), 2, {"/b"});
  CHECK(x.news() == texts{"node_lost 1", "node_added 1", "topic_added 1 '/b'"});
}

TEST_CASE("a client is seen once it has told its subscriptions, and by its name") {
  watched_router x;
  const auto client = id_of(5);
  REQUIRE(x.routes.add_client(client, x.make_link(), false, "five"));
  CHECK(x.routes.receive(client, filter_report{{client, 1, 1, true}, {"/a"}, {}}));
  CHECK(x.news().empty());
  x.routes.client_ready(client);
  CHECK(x.news() == texts{"node_added 5 client five", "topic_added 5 client five '/a'"});
  CHECK(x.routes.receive(client, filter_report{{client, 1, 2, false}, {"/b"}, {}}));
  CHECK(x.news() == texts{"topic_added 5 client five '/b'"});
  x.routes.remove_peers({client});
  CHECK(x.news() == texts{"node_lost 5 client five"});
}

TEST_CASE("a client sees its relays, with every link anew, and no topics") {
  router routes{us, {}, false};
  const auto watch = std::make_shared<network_watch>();
  routes.add_watch(watch);
  const auto loop = std::make_shared<fake_loop>();
  const auto news = [&] {
    texts result;
    const auto look = [&](const auto& node, auto visit) { routes.look_at(node, visit); };
    while (const auto each = watch->pull(look, immediately()))
      result.push_back(text_of(*each));
    return result;
  };
  const auto link = [&](std::uint8_t id, const std::string& name) {
    auto via = std::make_shared<fake_link>(loop);
    via->begin_messages(2, us, 1 << 20);
    REQUIRE(routes.add_relay(id_of(id), via, name));
  };
  link(1, "one");
  link(2, "two");
  CHECK(news() == texts{"node_added 1 one", "node_added 2 two"});
  routes.remove_peers({id_of(1)});
  link(1, "uno");
  CHECK(news() == texts{"node_lost 1 one", "node_added 1 uno"});
}

TEST_CASE("a router that is closed ends those who watch it, and who comes later at once") {
  watched_router x;
  x.join(id_of(1));
  CHECK(x.news().size() == 1);
  x.routes.remove_peers({id_of(1)});
  x.routes.close();
  CHECK(x.news() == texts{"node_lost 1"});
  const auto none = [](const auto&, const auto& visit) { visit(nullptr); };
  CHECK(x.watch->pull(none, immediately()).closed());
  x.begin();
  CHECK(x.watch->pull(none, immediately()).closed());
}
