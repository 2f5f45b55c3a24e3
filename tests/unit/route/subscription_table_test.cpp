#include "route/subscription_table.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

using namespace pubsub;

namespace {

endpoint_id id_of(std::uint8_t n) {
  endpoint_id::bytes_type bytes{};
  bytes[0] = n;
  return endpoint_id{bytes};
}

std::string random_prefix(std::mt19937& engine) {
  std::string out = "/";
  for (auto n = engine() % 3; n > 0; --n)
    out += "ab"[engine() % 2];
  return out;
}

/// The table in the plainest words.
struct naive_table {
  std::map<subscriber_id, std::set<std::string>> locals;
  std::map<endpoint_id, std::set<std::string>> peers;

  filter announcement_for(const endpoint_id& peer) const {
    filter out;
    for (const auto& [who, prefixes] : locals)
      for (const auto& each : prefixes)
        out.add(each);
    for (const auto& [who, prefixes] : peers)
      if (who != peer)
        for (const auto& each : prefixes)
          out.add(each);
    return out;
  }
};

} // namespace

TEST_CASE("a peer is told our own wishes and those of the other peers") {
  subscription_table table;
  table.add_local(1, {"/own"});
  table.set_peer(id_of(1), {"/one"});
  table.set_peer(id_of(2), {"/two"});
  CHECK(table.announcement_for(id_of(1)) == filter{"/own", "/two"});
  CHECK(table.announcement_for(id_of(2)) == filter{"/own", "/one"});
  CHECK(table.announcement_for({}) == filter{"/own", "/one", "/two"});
}

TEST_CASE("removing the widest prefix brings the narrower ones back") {
  subscription_table table;
  table.add_local(1, {"/a/b"});
  table.add_local(2, {"/a"});
  CHECK(table.announcement_for({}) == filter{"/a"});
  table.remove_local(2);
  CHECK(table.announcement_for({}) == filter{"/a/b"});
  CHECK(table.add_local_topic(1, "/a"));
  CHECK(table.announcement_for({}) == filter{"/a"});
  CHECK(table.remove_local_topic(1, "/a"));
  CHECK(table.announcement_for({}) == filter{"/a/b"});
  table.remove_local(1);
  CHECK(table.announcement_for({}).empty());
}

TEST_CASE("only a topic that was asked for can be removed, and once") {
  subscription_table table;
  table.add_local(1, {"/a"});
  CHECK_FALSE(table.remove_local_topic(1, "/a/b"));
  CHECK_FALSE(table.add_local_topic(1, "/a"));
  CHECK(table.remove_local_topic(1, "/a"));
  CHECK_FALSE(table.remove_local_topic(1, "/a"));
  CHECK_FALSE(table.add_local_topic(2, "/a"));
  CHECK(table.local_filter(2).empty());
}

TEST_CASE("a peer's new filter replaces the old one, and goes with the peer") {
  subscription_table table;
  table.set_peer(id_of(1), {"/one", "/more"});
  table.set_peer(id_of(1), {"/one"});
  CHECK(*table.peer_filter(id_of(1)) == filter{"/one"});
  CHECK(table.announcement_for(id_of(2)) == filter{"/one"});
  table.remove_peer(id_of(1));
  CHECK(table.peer_filter(id_of(1)) == nullptr);
  CHECK(table.announcement_for(id_of(2)).empty());
}

TEST_CASE("without forwarding peers hear nothing of one another") {
  subscription_table table{{}, false};
  table.add_local(1, {"/own"});
  table.set_peer(id_of(1), {"/one"});
  CHECK(table.announcement_for(id_of(2)) == filter{"/own"});
  CHECK(table.announcement_for({}) == filter{"/own"});
}

TEST_CASE("forward topics are announced although nobody here wants them") {
  subscription_table table{{"/through"}};
  CHECK(table.announcement_for(id_of(1)) == filter{"/through"});
  CHECK(table.local_index().match("/through/x").empty());
}

TEST_CASE("indexes number subscribers and peers by their position") {
  subscription_table table;
  table.add_local(10, {"/a"});
  table.add_local(20, {"/a/b"});
  table.set_peer(id_of(5), {"/a"});
  table.set_peer(id_of(3), {""});
  CHECK(table.locals() == std::vector<subscriber_id>{10, 20});
  CHECK(table.local_index().match("/a/b") == std::vector<prefix_index::target>{0, 1});
  CHECK(table.peers() == std::vector{id_of(3), id_of(5)});
  CHECK(table.peer_index().match("/x") == std::vector<prefix_index::target>{0});
}

TEST_CASE("a table announces and matches like a plain list after any changes") {
  std::mt19937 engine{31};
  for (int round = 0; round < 60; ++round) {
    subscription_table table;
    naive_table naive;
    for (int step = 0; step < 60; ++step) {
      const auto who = static_cast<subscriber_id>(engine() % 4);
      const auto peer = id_of(static_cast<std::uint8_t>(1 + engine() % 3));
      const auto prefix = random_prefix(engine);
      switch (engine() % 6) {
      case 0:
        table.add_local(who, {prefix});
        naive.locals[who] = {prefix};
        break;
      case 1:
        CHECK(table.add_local_topic(who, prefix) ==
              (naive.locals.contains(who) && naive.locals[who].insert(prefix).second));
        break;
      case 2:
        CHECK(table.remove_local_topic(who, prefix) ==
              (naive.locals.contains(who) && naive.locals[who].erase(prefix) > 0));
        break;
      case 3:
        table.remove_local(who);
        naive.locals.erase(who);
        break;
      case 4: {
        const auto second = random_prefix(engine);
        table.set_peer(peer, {prefix, second});
        naive.peers[peer] = {prefix, second};
        break;
      }
      default:
        table.remove_peer(peer);
        naive.peers.erase(peer);
      }
      for (std::uint8_t n = 0; n < 4; ++n)
        CHECK(table.announcement_for(n == 0 ? endpoint_id{} : id_of(n)) ==
              naive.announcement_for(n == 0 ? endpoint_id{} : id_of(n)));
      const auto topic = random_prefix(engine) + "x";
      std::vector<prefix_index::target> wanted;
      prefix_index::target position = 0;
      for (const auto& [id, prefixes] : naive.locals) {
        if (std::ranges::any_of(prefixes, [&](const auto& p) { return topic.starts_with(p); }))
          wanted.push_back(position);
        ++position;
      }
      CHECK(table.local_index().match(topic) == wanted);
    }
  }
}
