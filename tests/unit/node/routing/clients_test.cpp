// What relays and clients know of each other, apart from routes.
// SPDX-License-Identifier: BSD-3-Clause
#include "node/routing/client_directory.hpp"
#include "node/routing/interest_register.hpp"
#include "node/routing/serving_relays.hpp"
#include "support/fake_link.hpp"
#include "support/ids.hpp"
#include "wire/native/network.hpp"

#include <doctest/doctest.h>

using namespace pubsub;
using namespace pubsub::test;
using namespace std::chrono_literals;

namespace {

const interest_register::time beginning = interest_register::time{} + 1h;

/// Clients ask about topics that so many want.
struct asked {
  std::vector<interest_news> look(std::string_view prefix) {
    std::vector<interest_news> news;
    all.look(
        prefix, [this](const auto&, std::size_t most) { return std::min(most, wanted); },
        [this](const auto& who, const auto&) { return who == subscribed; },
        [this](const auto&) { return conditions; }, beginning, news);
    return news;
  }

  interest_register all;
  std::size_t wanted = 0;
  std::vector<std::string> conditions;
  endpoint_id subscribed;
};

struct relays {
  std::shared_ptr<fake_link> link() { return std::make_shared<fake_link>(loop); }

  std::shared_ptr<fake_loop> loop = std::make_shared<fake_loop>();
  serving_relays all;
};

} // namespace

TEST_CASE("a client is told under which conditions a topic is wanted, and confirms changes") {
  asked x;
  using texts = std::vector<std::string>;
  x.wanted = 5;
  x.conditions = {"one"};
  REQUIRE(x.all.ask(id_of(1), {"/a", 1}));
  auto news = x.look("/a");
  REQUIRE(news.size() == 1);
  CHECK(news.front().what.conditions == texts{"one"});
  CHECK(x.all.all_confirmed(beginning)); // of an answer nothing depends
  CHECK(x.look("/a").empty());
  x.conditions = {"one", "two"};
  news = x.look("/a");
  REQUIRE(news.size() == 1);
  CHECK(news.front().what.number == 1);
  CHECK(news.front().what.conditions == texts{"one", "two"});
  CHECK_FALSE(x.all.all_confirmed(beginning));
  x.all.confirm(id_of(1));
  CHECK(x.all.all_confirmed(beginning));
  REQUIRE(x.all.ask(id_of(2), {"/a", 1}));
  news = x.look("/a");
  REQUIRE(news.size() == 1);
  CHECK(news.front().to == id_of(2));
  x.conditions = {}; // one wants everything
  CHECK(x.look("/").size() == 2);
  CHECK_FALSE(x.all.all_confirmed(beginning));
}

TEST_CASE("a client is told how many want a topic as far as that is enough, and when it changes") {
  asked x;
  REQUIRE(x.all.ask(id_of(1), {"/a", 2}));
  auto news = x.look("/a");
  REQUIRE(news.size() == 1);
  CHECK(news[0].what.number == 0);
  CHECK(x.look("/a").empty());
  for (const std::size_t now : {1, 2})
    CHECK((x.wanted = now, x.look("/").at(0).what.number) == now);
  x.wanted = 7;
  CHECK(x.look("").empty()); // two were enough
  CHECK(x.look("/b").empty());
  REQUIRE(x.all.ask(id_of(1), {"/a", 1})); // each question has an answer
  CHECK(x.look("/a").at(0).what.number == 2);
}

TEST_CASE("a client that has subscribed itself is not counted for itself") {
  asked x;
  x.subscribed = id_of(1);
  x.wanted = 1;
  for (const char who : {1, 2})
    REQUIRE(x.all.ask(id_of(who), {"/a", 9}));
  for (const auto& each : x.look("/a"))
    CHECK(each.what.number == (each.to == id_of(1) ? 0 : 1));
}

TEST_CASE("a client confirms what came to be wanted, and is waited for no longer than a while") {
  asked x;
  REQUIRE(x.all.ask(id_of(1), {"/a", 1}));
  CHECK(x.look("/a").size() == 1);
  CHECK(x.all.all_confirmed(beginning)); // the client knows that /a is unwanted
  x.wanted = 1;
  CHECK(x.look("/a").size() == 1);
  CHECK_FALSE(x.all.all_confirmed(beginning));
  CHECK(x.all.all_confirmed(beginning + routing_tuning::patience_with_clients + 1ms));
  x.all.confirm(id_of(2)); // of another nothing is expected
  CHECK_FALSE(x.all.all_confirmed(beginning));
  x.all.confirm(id_of(1));
  CHECK(x.all.all_confirmed(beginning));
}

TEST_CASE("what a client asks about has a bound, and goes with it") {
  asked x;
  for (std::size_t n = 0; n < routing_tuning::max_topics_asked; ++n)
    REQUIRE(x.all.ask(id_of(1), {std::to_string(n), 1}));
  CHECK_FALSE(x.all.ask(id_of(1), {"more", 1}));
  CHECK(x.all.ask(id_of(1), {"0", 2})); // it has asked about that
  REQUIRE(x.all.ask(id_of(2), {std::string(routing_tuning::max_bytes_asked - 1, 'x'), 1}));
  CHECK_FALSE(x.all.ask(id_of(2), {"yy", 1}));
  x.all.remove(id_of(1));
  x.all.remove(id_of(2));
  CHECK(x.all.empty());
}

TEST_CASE("the first relay serves a client, then the next, and those that do not reach it") {
  relays x;
  CHECK(x.all.add(id_of(1), x.link()).begin == std::vector{id_of(1)});
  CHECK(x.all.add(id_of(2), x.link()).begin.empty());
  CHECK(x.all.note_reach(id_of(2), id_of(1)).begin.empty());
  CHECK(x.all.note_reach(id_of(2), {}).begin == std::vector{id_of(2)});
  CHECK(x.all.links()->size() == 2);
  CHECK(x.all.note_reach(id_of(2), id_of(1)).end == std::vector{id_of(2)});
  CHECK(x.all.note_reach(id_of(1), {}).begin.empty()); // it serves already
  CHECK(x.all.links()->size() == 1);
  CHECK(x.all.remove(id_of(1)).begin == std::vector{id_of(2)});
  CHECK(x.all.first() == id_of(2));
  CHECK(x.all.remove(id_of(2)).begin.empty());
  CHECK(x.all.links()->empty());
}

TEST_CASE("a client tells each of its relays which they are, when one is added") {
  relays x;
  const auto links = std::vector{x.link(), x.link()};
  const auto told = [](fake_link& link) {
    std::vector<endpoint_id> last;
    for (const auto& frame : link.take_frames())
      if (const auto payload = std::span{frame}.subspan(4);
          wire::kind_of(payload) == wire::frame_kind::relays)
        last = wire::parse_relays(payload).value();
    return last;
  };
  x.all.add(id_of(1), links[0]);
  CHECK(told(*links[0]).empty());
  x.all.add(id_of(2), links[1]);
  for (const auto& each : links)
    CHECK(told(*each) == std::vector{id_of(1), id_of(2)});
  x.all.remove(id_of(2));
  for (char i = 10; i < 10 + char{wire::max_relays_named}; ++i)
    x.all.add(id_of(i), x.link());
  CHECK(told(*links[0]).front() == id_of(10)); // the last ones
}

TEST_CASE("a relay that retires serves on until the one that stands by takes over") {
  relays x;
  for (const char each : {1, 2, 3})
    x.all.add(id_of(each), x.link());
  const auto prepares = x.all.note_reach(id_of(1), id_of(1)); // it says that it retires
  CHECK(prepares.begin == std::vector{id_of(2)});
  CHECK(x.all.links()->size() == 1);
  CHECK(x.all.links()->contains(id_of(1)));
  CHECK(x.all.must_wait(id_of(2)));
  CHECK_FALSE(x.all.must_wait(id_of(3)));
  CHECK_FALSE(x.all.take_over(id_of(3)));
  CHECK(x.all.take_over(id_of(2)));
  CHECK_FALSE(x.all.take_over(id_of(2)));
  CHECK(x.all.first() == id_of(2));
  CHECK(x.all.links()->contains(id_of(2)));
  CHECK_FALSE(x.all.links()->contains(id_of(1)));
  CHECK(x.all.must_wait(id_of(2))); // for what the first one still sends
  CHECK(x.all.note_reach(id_of(1), {}).begin.empty());
  const auto gone = x.all.remove(id_of(1));
  CHECK((gone.begin.empty() && gone.end.empty()));
  CHECK_FALSE(x.all.any_must_wait());
}

TEST_CASE("a relay that is gone before the next one is ready is followed by it all the same") {
  relays x;
  for (const char each : {1, 2, 3})
    x.all.add(id_of(each), x.link());
  x.all.note_reach(id_of(1), id_of(1));
  CHECK(x.all.remove(id_of(2)).begin == std::vector{id_of(3)}); // which is asked in its place
  CHECK(x.all.must_wait(id_of(3)));
  CHECK(x.all.remove(id_of(1)).begin == std::vector{id_of(3)});
  CHECK(x.all.links()->contains(id_of(3)));
  CHECK_FALSE(x.all.any_must_wait());
}

TEST_CASE("a relay that retires and is the only one is not followed, and one that stands by goes") {
  relays x;
  x.all.add(id_of(1), x.link());
  CHECK(x.all.note_reach(id_of(1), id_of(1)).begin.empty());
  CHECK(x.all.links()->contains(id_of(1)));
  x.all.add(id_of(2), x.link());
  CHECK(x.all.note_reach(id_of(2), id_of(2)).begin.empty());
  CHECK_FALSE(x.all.any_must_wait());
}

TEST_CASE("a relay that does not tell is waited for once") {
  relays x;
  x.all.add(id_of(1), x.link());
  x.all.ask("/a", 1);
  CHECK_FALSE(x.all.is_told("/a"));
  x.all.give_up("/a");
  x.all.ask("/b", 1);
  CHECK(x.all.is_told("/b"));
  CHECK(x.all.may_be_wanted_by(id_of(1), "/b"));
  CHECK(x.all.note(id_of(1), {"/a", 0})); // it tells again
  CHECK_FALSE(x.all.is_told("/b"));
  CHECK_FALSE(x.all.may_be_wanted_by(id_of(1), "/a"));
}

TEST_CASE("a client's reports are counted one by one, and end with it") {
  client_directory all;
  const auto loop = std::make_shared<fake_loop>();
  all.add(id_of(1), std::make_shared<fake_link>(loop));
  CHECK_FALSE(all.receive({{id_of(1), 1, 2, false}, {"/t"}, {}})); // of what has not been said
  REQUIRE(all.receive({{id_of(1), 1, 2, true}, {"/a", "/b"}, {}}));
  CHECK_FALSE(all.receive({{id_of(1), 1, 4, false}, {"/c"}, {}}));
  const auto next = all.receive({{id_of(1), 1, 3, false}, {"/c"}, {"/a"}});
  REQUIRE(next);
  CHECK(next->added == std::vector<std::string>{"/c"});
  CHECK(next->removed == std::vector<std::string>{"/a"});
  CHECK(all.wants(id_of(1), "/c/1"));
  CHECK_FALSE(all.wants(id_of(1), "/a"));
  CHECK_FALSE(all.wants(id_of(2), "/c"));
  const auto left = all.remove(id_of(1));
  REQUIRE(left);
  CHECK(left->removed == std::vector<std::string>{"/b", "/c"});
  CHECK(all.links().empty());
}
