// SPDX-License-Identifier: BSD-3-Clause
#include "route/subscription_table.hpp"
#include "support/ids.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

using namespace pubsub;
using namespace pubsub::test;

namespace {

using table_type = subscription_table<int>;

std::string random_prefix(std::mt19937& engine) {
  std::string out = "/";
  for (auto n = engine() % 3; n > 0; --n)
    out += "ab"[engine() % 2];
  return out;
}

int name_of(int exit) {
  return exit;
}
endpoint_id name_of(const remote_target& exit) {
  return exit.node;
}

template <class T>
auto exits(const prefix_index<T>& index, std::string_view topic) {
  std::vector<const typename prefix_index<T>::target*> found;
  index.match(topic, found);
  std::vector<decltype(name_of(T{}))> result;
  for (const auto* each : found)
    result.push_back(name_of(each->exit));
  return result;
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
  std::vector<int> locals_for(std::string_view topic) const {
    std::vector<int> out;
    for (const auto& [who, prefixes] : locals)
      if (matches(prefixes, topic))
        out.push_back(static_cast<int>(who));
    return out;
  }
  std::size_t peers_for(std::string_view topic) const {
    return static_cast<std::size_t>(std::ranges::count_if(
        peers, [&](const auto& each) { return matches(each.second, topic); }));
  }
  static bool matches(const std::set<std::string>& prefixes, std::string_view topic) {
    return std::ranges::any_of(prefixes, [&](const auto& p) { return topic.starts_with(p); });
  }
};

/// A random change.
void change_both(table_type& table, naive_table& naive, std::mt19937& engine) {
  const auto who = static_cast<subscriber_id>(engine() % 4);
  const auto number = static_cast<std::uint8_t>(1 + engine() % 3);
  const auto peer = id_of(number);
  const auto prefix = random_prefix(engine);
  const auto second = random_prefix(engine);
  switch (engine() % 7) {
  case 0:
    CHECK(table.remove_local(who) == (naive.locals.erase(who) > 0));
    table.add_local(who, static_cast<int>(who), {prefix});
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
    CHECK(table.remove_local(who) == (naive.locals.erase(who) > 0));
    break;
  case 4:
    table.add_peer(peer, {prefix, second});
    naive.peers[peer] = {prefix, second};
    break;
  case 5:
    table.set_peer_filter(peer, {prefix, second});
    if (naive.peers.contains(peer))
      naive.peers[peer] = {prefix, second};
    break;
  default:
    CHECK(table.remove_peer(peer) == (naive.peers.erase(peer) > 0));
  }
}

/// `told` is what each peer knows if it hears of its new announcement whenever the table says so.
void check_told(table_type& table, const naive_table& naive,
                std::map<endpoint_id, filter>& announced) {
  for (const auto& id : table.take_outdated())
    announced[id] = table.announcement_for(id);
  std::erase_if(announced, [&](const auto& each) { return !naive.peers.contains(each.first); });
  CHECK(announced.size() == naive.peers.size());
  for (const auto& [id, known] : announced)
    CHECK(known == naive.announcement_for(id));
}

} // namespace

TEST_CASE("a peer is told our own wishes and those of the other peers") {
  table_type table;
  table.add_local(1, 1, {"/own"});
  table.add_peer(id_of(1), {"/one"});
  table.add_peer(id_of(2), {"/two"});
  CHECK(table.announcement_for(id_of(1)) == filter{"/own", "/two"});
  CHECK(table.announcement_for(id_of(2)) == filter{"/own", "/one"});
  CHECK(table.announcement_for({}) == filter{"/own", "/one", "/two"});
}

TEST_CASE("without transit a peer is not told the wishes of other peers") {
  table_type table{{}, true, false};
  table.add_local(1, 1, {"/own"});
  table.add_peer(id_of(1), {"/one"});
  table.add_peer(id_of(2), {"/two"});
  CHECK(table.announcement_for(id_of(1)) == filter{"/own"});
  CHECK(table.announcement_for({}) == filter{"/own", "/one", "/two"});
}

TEST_CASE("removing the widest prefix brings the narrower ones back") {
  table_type table;
  table.add_local(1, 1, {"/a/b"});
  table.add_local(2, 2, {"/a"});
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
  table_type table;
  table.add_local(1, 1, {"/a"});
  CHECK_FALSE(table.remove_local_topic(1, "/a/b"));
  CHECK_FALSE(table.add_local_topic(1, "/a"));
  CHECK(table.remove_local_topic(1, "/a"));
  CHECK_FALSE(table.remove_local_topic(1, "/a"));
  CHECK_FALSE(table.add_local_topic(2, "/a"));
  CHECK(table.local_filter(2).empty());
}

TEST_CASE("a peer's new filter replaces the old one, and goes with the peer") {
  table_type table;
  table.add_peer(id_of(1), {"/one", "/more"});
  CHECK(table.set_peer_filter(id_of(1), {"/one"}));
  CHECK_FALSE(table.set_peer_filter(id_of(1), {"/one"}));
  CHECK(table.announcement_for(id_of(2)) == filter{"/one"});
  table.remove_peer(id_of(1));
  CHECK(table.announcement_for(id_of(2)).empty());
}

TEST_CASE("without forwarding peers hear nothing of one another") {
  table_type table{{}, false};
  table.add_local(1, 1, {"/own"});
  table.add_peer(id_of(1), {"/one"});
  CHECK(table.announcement_for(id_of(2)) == filter{"/own"});
  CHECK(table.announcement_for({}) == filter{"/own"});
}

TEST_CASE("forward topics are announced although nobody here wants them") {
  table_type table{{"/through"}};
  CHECK(table.announcement_for(id_of(1)) == filter{"/through"});
  CHECK(table.local_index().count("/through/x") == 0);
}

TEST_CASE("indexes lead to the exits of subscribers and peers, each once") {
  table_type table;
  table.add_local(10, 1, {"/a"});
  table.add_local(20, 2, {"/a/b"});
  CHECK(table.add_local_topic(20, "/a"));
  table.add_peer(id_of(5), {"/a"});
  table.add_peer(id_of(3), {""});
  CHECK(exits(table.local_index(), "/a/b") == std::vector{1, 2});
  CHECK(exits(table.remote_index(), "/x") == std::vector{id_of(3)});
  CHECK(exits(table.remote_index(), "/a") == std::vector{id_of(5), id_of(3)});
  table.add_peer(id_of(5), {"/x"}); // the same peer, by another link
  CHECK(exits(table.remote_index(), "/x") == std::vector{id_of(3), id_of(5)});
  CHECK(exits(table.remote_index(), "/a") == std::vector{id_of(3)});
}

TEST_CASE("what a peer and somebody else want is shared, by the longest of both prefixes") {
  table_type table;
  const auto shared = [&](std::uint8_t n) { return table.shared_with(id_of(n)); };
  CHECK(shared(1).empty());
  table.add_peer(id_of(1), {"/a", "/b/long", "/mine"});
  CHECK(shared(1).empty()); // nobody else
  table.add_local(1, 1, {"/a/x", "/c"});
  CHECK(shared(1) == std::vector<std::string>{"/a/x"});
  table.change_node(id_of(9), 2, {"/b"}, {});
  CHECK(shared(1) == std::vector<std::string>{"/a/x", "/b/long"});
  table.add_peer(id_of(2), {""});
  CHECK(shared(1) == std::vector<std::string>{"/a", "/a/x", "/b/long", "/mine"});
  CHECK(shared(2) == std::vector<std::string>{"/a", "/a/x", "/b", "/b/long", "/c", "/mine"});
}

TEST_CASE("a target has a prefix since the change of our wants that told of it") {
  table_type table{{"/through"}};
  const auto since = [&](std::string_view topic) {
    std::vector<const prefix_index<int>::target*> found;
    table.local_index().match(topic, found);
    std::vector<std::uint64_t> result;
    for (const auto* each : found)
      result.push_back(each->since);
    return result;
  };
  CHECK(table.take_own_changes().number == 2);
  table.add_local(1, 1, {"/a"});
  const auto first = table.take_own_changes();
  CHECK(first.number == 3);
  CHECK(first.added == std::vector<std::string>{"/a"});
  table.add_local(2, 2, {"/a", "/through"}); // told already
  CHECK(table.take_own_changes().added.empty());
  CHECK(since("/a") == std::vector<std::uint64_t>{3, 3});
  CHECK(since("/through") == std::vector<std::uint64_t>{2});
  table.remove_local(1);
  table.remove_local(2);
  const auto gone = table.take_own_changes();
  CHECK(gone.number == 4);
  CHECK(gone.removed == std::vector<std::string>{"/a"});
  table.add_local(3, 3, {"/a"});
  CHECK(table.take_own_changes().number == 5);
  CHECK(since("/a") == std::vector<std::uint64_t>{5});
}

TEST_CASE("a prefix that changes hands between two reports was wanted all the time") {
  table_type table;
  table.add_local(1, 1, {"/a"});
  CHECK(table.take_own_changes().number == 2);
  table.remove_local(1);
  table.add_local(2, 2, {"/a"});
  table.add_local(3, 3, {"/b"});
  table.remove_local(3);
  const auto change = table.take_own_changes();
  CHECK(change.added.empty());
  CHECK(change.removed.empty());
  std::vector<const prefix_index<int>::target*> found;
  table.local_index().match("/a", found);
  REQUIRE(found.size() == 1);
  CHECK(found[0]->since == 2);
  table.add_local(4, 4, {"/c"});
  CHECK(table.take_own_changes().number == 3);
}

TEST_CASE(
    "what Broker peers change is told in pieces, first come first, and not at all if undone") {
  using list = std::vector<std::string>;
  table_type table;
  table.add_peer(id_of(1), {"/z1", "/z2", "/z3"});
  table.add_peer(id_of(2), {"/a"});
  CHECK(table.take_own_changes(2).added == list{"/z1", "/z2"});
  CHECK(table.changes_of_peers() == 2);
  table.add_local(1, 1, {"/b", "/a"}); // of a subscriber all is told at once
  CHECK(table.take_own_changes(0).added == list{"/a", "/b"});
  CHECK(table.changes_of_peers() == 1);
  table.set_peer_filter(id_of(1), {"/z2", "/z4"}); // one was told, one was not
  table.set_peer_filter(id_of(1), {"/z1", "/z2"}); // both are undone
  CHECK(table.changes_of_peers() == 0);
  CHECK(table.take_own_changes().added.empty());
  CHECK(table.take_own_changes().removed.empty());
  table.remove_local(1);
  table.remove_peer(id_of(2));
  table.remove_peer(id_of(1));
  auto change = table.take_own_changes(0);
  CHECK(change.removed == list{"/b"}); // the other one had its peer when the subscriber left
  change = table.take_own_changes(1);
  CHECK(change.removed == list{"/a"});
  table.add_local(2, 2, {"/z1"}); // whom it is for has changed, meanwhile
  change = table.take_own_changes();
  CHECK(change.removed == list{"/z2"});
  CHECK(change.added.empty());
}

TEST_CASE("what a subscriber gives up is told no sooner than what peers have added before") {
  using list = std::vector<std::string>;
  table_type table;
  table.add_local(1, 1, {"/a/b"});
  CHECK(table.take_own_changes().added == list{"/a/b"});
  table.add_peer(id_of(1), {"/a", "/c"});
  table.remove_local(1); // until /a is told its messages go to the peer, too
  table.add_local(2, 2, {"/d"});
  CHECK(table.take_own_changes(0).removed.empty());
  auto change = table.take_own_changes(2);
  CHECK(change.added == list{"/a", "/c"});
  CHECK(change.removed.empty());
  CHECK(table.take_own_changes(1).removed == list{"/a/b"});
}

TEST_CASE("how far a node's wants are known is kept as long as it has any") {
  table_type table;
  const auto known = [&](const endpoint_id& id) {
    std::uint64_t result = 0;
    table.numbers().visit(id_text(id), [&](const auto& each) {
      result = each.exit;
      return true;
    });
    return result;
  };
  CHECK(known(id_of(1)) == 0);
  table.change_node(id_of(1), 7, {"/a"}, {});
  table.change_node(id_of(2), 3, {"/b"}, {});
  CHECK(known(id_of(1)) == 7);
  CHECK(known(id_of(2)) == 3);
  table.change_node(id_of(1), 9, {}, {}); // gone and back
  CHECK(known(id_of(1)) == 9);
  table.change_node(id_of(1), 10, {}, {"/a"});
  CHECK(known(id_of(1)) == 0);
}

TEST_CASE("only peers to which a change makes a difference are outdated") {
  const std::set<endpoint_id> nobody;
  table_type table{{"/through"}};
  table.add_local(1, 1, {"/a"});
  CHECK(table.take_outdated().empty());
  table.add_peer(id_of(1), {});
  CHECK(table.take_outdated() == std::set{id_of(1)}); // a new one knows nothing yet
  table.add_peer(id_of(2), {"/b"});
  CHECK(table.take_outdated() == std::set{id_of(1), id_of(2)});
  table.add_local(2, 2, {"/a", "/a/b", "/through/x"});
  CHECK(table.take_outdated() == nobody);
  table.add_local(3, 3, {"/b/c"}); // the first peer hears of /b already
  CHECK(table.take_outdated() == std::set{id_of(2)});
  CHECK(table.set_peer_filter(id_of(1), {"/a"}));
  CHECK(table.take_outdated() == nobody);
  CHECK(table.remove_local(2));
  CHECK(table.remove_local(1)); // the first peer still wants /a, and is not told of its own wish
  CHECK(table.take_outdated() == std::set{id_of(1)});
  CHECK(table.remove_peer(id_of(2)));
  CHECK(table.take_outdated() == std::set{id_of(1)});
}

TEST_CASE("a table announces and matches like a plain list after any changes") {
  std::mt19937 engine{31};
  for (int round = 0; round < 60; ++round) {
    table_type table;
    naive_table naive;
    std::map<endpoint_id, filter> announced;
    for (int step = 0; step < 80; ++step) {
      change_both(table, naive, engine);
      check_told(table, naive, announced);
      CHECK(table.announcement_for({}) == naive.announcement_for({}));
      const auto topic = random_prefix(engine) + "x";
      CHECK(exits(table.local_index(), topic) == naive.locals_for(topic));
      CHECK(exits(table.remote_index(), topic).size() == naive.peers_for(topic));
    }
  }
}
