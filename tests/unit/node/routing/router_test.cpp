// SPDX-License-Identifier: BSD-3-Clause
#include "node/routing/router.hpp"

#include "node/routing/tuning.hpp"
#include "support/eventually.hpp"
#include "support/fake_link.hpp"
#include "support/ids.hpp"
#include "wire/broker/envelope.hpp"

#include <doctest/doctest.h>

using namespace pubsub;
using namespace pubsub::test;

namespace {

struct router_under_test {
  explicit router_under_test(bool forwarding = true) : routes(us, {}, forwarding) {}

  std::shared_ptr<fake_link> make_link(std::uint8_t version) {
    auto fresh = std::make_shared<fake_link>(loop);
    fresh->begin_messages(version, us, 1 << 20);
    return fresh;
  }
  /// A neighbour that has sent all it knew: links to us and to `others`.
  std::shared_ptr<fake_link> join(const endpoint_id& who, std::vector<endpoint_id> others = {}) {
    auto via = make_link(2);
    routes.add_neighbour(who, via);
    others.push_back(us);
    CHECK(routes.receive(who, neighbours_report{{who, 1, 1, true}, true, others, {}}));
    CHECK(routes.receive(who, filter_report{{who, 1, 1, true}, {}, {}}));
    routes.neighbour_ready(who);
    via->take_frames();
    return via;
  }
  /// A node behind this neighbour, with one subscription.
  void announce(const endpoint_id& neighbour, const endpoint_id& far, const std::string& prefix) {
    CHECK(routes.receive(neighbour, neighbours_report{{far, 1, 1, true}, true, {neighbour}, {}}));
    CHECK(routes.receive(neighbour, filter_report{{far, 1, 1, true}, {prefix}, {}}));
  }
  subscriber_id subscribe(const filter& topics) {
    return routes.add_subscriber(std::make_shared<message_queue>(queue_options{}), topics);
  }

  std::shared_ptr<fake_loop> loop = std::make_shared<fake_loop>();
  router routes;
};

wire::frame_kind kind_of(const buffer& frame) {
  return *wire::kind_of(std::span{frame}.subspan(4));
}

/// The filter of a routing update that is the only frame.
filter only_update(const std::vector<buffer>& frames) {
  REQUIRE(frames.size() == 1);
  const auto x = wire::parse_envelope(std::span{frames.front()}.subspan(4));
  REQUIRE(x);
  CHECK(x->type == wire::envelope_type::routing_update);
  return *wire::parse_filter(x->payload);
}

} // namespace

TEST_CASE("a neighbour is sent all that is known, and then that this is all") {
  router_under_test f;
  f.subscribe({"/a"});
  f.join(id_of(1));
  const auto via = f.make_link(2);
  f.routes.add_neighbour(id_of(2), via);
  const auto frames = via->take_frames();
  REQUIRE(frames.size() >= 3);
  CHECK(kind_of(frames.front()) == wire::frame_kind::neighbours);
  CHECK(kind_of(frames.back()) == wire::frame_kind::known);
  CHECK(std::ranges::count(frames, wire::frame_kind::known, kind_of) == 1);
}

TEST_CASE(
    "a large filter of a Broker peer is reported in pieces, and subscribers are not behind it") {
  router_under_test f;
  std::vector<std::chrono::nanoseconds> waits;
  f.routes.report_later_by([&](auto wait) { waits.push_back(wait); });
  const auto via = f.join(id_of(1));
  const auto reported = [&] {
    std::size_t result = 0;
    for (const auto& each : via->take_frames())
      if (kind_of(each) == wire::frame_kind::filter)
        result += wire::parse_filter_report(std::span{each}.subspan(4))->added.size();
    return result;
  };
  f.routes.add_broker_peer(id_of(50), f.make_link(1), {}, {});
  CHECK(reported() == 0);
  constexpr std::size_t all = 10'000;
  std::vector<std::string> prefixes;
  for (std::size_t i = 0; i < all; ++i)
    prefixes.push_back("/" + std::to_string(100'000 + i));
  f.routes.set_filter(id_of(50), filter{prefixes});
  auto sum = reported();
  CHECK(sum == routing_tuning::changes_of_peers_at_once);
  CHECK(waits.size() == 1); // one timer is enough
  f.subscribe({"/mine"});
  sum += reported() - 1;
  CHECK(eventually([&] {
    f.routes.report_more(); // before it is time there is nothing
    const auto fresh = reported();
    CHECK(fresh <= routing_tuning::changes_of_peers_at_once);
    sum += fresh;
    return sum == all;
  }));
}

TEST_CASE("many links and clients that come in a moment are told of in a few reports") {
  router_under_test f;
  report_pace::time now{};
  std::size_t called_back = 0;
  f.routes.report_later_by(
      [&](auto wait) {
        CHECK(wait <= routing_tuning::collecting);
        ++called_back;
      },
      [&] { return now; });
  const auto via = f.join(id_of(1));
  struct count_of {
    std::size_t reports = 0;
    std::size_t items = 0;
  };
  const auto reported = [&](wire::frame_kind kind) { // of ourselves
    count_of result;
    const auto add = [&](const auto& report) {
      if (report->about.node != us)
        return;
      ++result.reports;
      result.items += report->added.size();
    };
    for (const auto& each : via->take_frames())
      if (const auto frame = std::span{each}.subspan(4); kind_of(each) != kind)
        continue;
      else if (kind == wire::frame_kind::filter)
        add(wire::parse_filter_report(frame));
      else
        add(wire::parse_neighbours(frame));
    return result;
  };
  const auto expect = [&](wire::frame_kind kind, std::size_t all) {
    auto told = reported(kind);
    CHECK(told.reports <= routing_tuning::reports_at_once);
    CHECK(told.items < all);
    CHECK(called_back == 1); // one timer is enough
    now += routing_tuning::collecting;
    f.routes.report_more();
    const auto rest = reported(kind);
    CHECK(rest.reports == 1);
    CHECK(told.items + rest.items == all);
    called_back = 0;
  };
  for (unsigned n = 2; n < 100; ++n)
    f.join(id_of(n));
  expect(wire::frame_kind::neighbours, 98);
  for (unsigned n = 0; n < 50; ++n) {
    const auto client = id_of(101 + n);
    REQUIRE(f.routes.add_client(client, f.make_link(2), false));
    CHECK(f.routes.receive(
        client, filter_report{{client, 1, 1, true}, {"/of/" + std::to_string(n) + "/"}, {}}));
    f.routes.client_ready(client);
  }
  expect(wire::frame_kind::filter, 50);
}

TEST_CASE(
    "a subscription is announced to neighbours before the call returns, and only if it is news") {
  router_under_test f;
  const auto via = f.join(id_of(1));
  f.subscribe({"/a"});
  const auto frames = via->take_frames();
  REQUIRE(frames.size() == 1);
  const auto report = wire::parse_filter_report(std::span{frames.front()}.subspan(4));
  REQUIRE(report);
  CHECK(report->about.node == us);
  CHECK(report->added == std::vector<std::string>{"/a"});
  const auto again = f.subscribe({"/a"});
  CHECK(via->take_frames().empty());
  f.routes.remove_subscriber(again);
  CHECK(via->take_frames().empty());
}

TEST_CASE("a Broker peer hears one filter for all that is behind us, and only when it changes") {
  router_under_test f;
  const auto broker = f.make_link(1);
  f.subscribe({"/a"});
  f.routes.add_broker_peer(id_of(50), broker, {"/x"}, {"/a"}); // as in the handshake
  CHECK(broker->take_frames().empty());
  f.join(id_of(1));
  f.announce(id_of(1), id_of(3), "/far");
  CHECK(f.routes.receive(id_of(1),
                         neighbours_report{{id_of(1), 1, 2, true}, true, {us, id_of(3)}, {}}));
  CHECK(only_update(broker->take_frames()) == filter{"/a", "/far"});
  f.subscribe({"/a"});
  CHECK(broker->take_frames().empty());
}

TEST_CASE("messages go to a neighbour only once it has sent all it knew") {
  router_under_test f;
  const auto via = f.make_link(2);
  f.routes.add_neighbour(id_of(1), via);
  CHECK(f.routes.receive(id_of(1), neighbours_report{{id_of(1), 1, 1, true}, true, {us}, {}}));
  CHECK(f.routes.receive(id_of(1), filter_report{{id_of(1), 1, 1, true}, {"/t"}, {}}));
  CHECK(f.routes.snapshot()->next_links->empty());
  CHECK(f.routes.count("/t") == 0);
  f.routes.neighbour_ready(id_of(1));
  CHECK(f.routes.snapshot()->next_links->contains(id_of(1)));
  CHECK(f.routes.count("/t") == 1);
}

TEST_CASE("a report that breaks the rules is refused") {
  router_under_test f;
  f.join(id_of(1));
  CHECK_FALSE(f.routes.receive( // numbers are left out
      id_of(1), neighbours_report{{id_of(1), 1, 5, false}, true, {us}, {}}));
}

TEST_CASE("removing a neighbour names the nodes that are reached another way now") {
  router_under_test f;
  f.join(id_of(1), {id_of(3)});
  f.join(id_of(2), {id_of(3)});
  CHECK(f.routes.receive(
      id_of(1), neighbours_report{{id_of(3), 1, 1, true}, true, {id_of(1), id_of(2)}, {}}));
  const auto over = f.routes.snapshot()->next_links->at(id_of(3));
  const auto first = over == f.routes.snapshot()->next_links->at(id_of(1)) ? id_of(1) : id_of(2);
  const auto behind = f.routes.remove_peer(first);
  CHECK(std::ranges::find(behind, id_of(3)) != behind.end());
  CHECK(f.routes.snapshot()->next_links->at(id_of(3)) != over);
}

TEST_CASE("a question is passed on with one hop less, and answered for ourselves") {
  router_under_test f;
  const auto near = f.join(id_of(1));
  const auto beyond = f.join(id_of(2));
  near->take_frames();
  f.routes.receive(filter_question{id_of(1), 5, {us, id_of(2)}});
  const auto asked = beyond->take_frames();
  REQUIRE(asked.size() == 1);
  const auto question = wire::parse_question(std::span{asked.front()}.subspan(4));
  REQUIRE(question);
  CHECK(question->hops_left == 4);
  CHECK(question->to == std::vector{id_of(2)});
  const auto answered = near->take_frames();
  REQUIRE(answered.size() == 1);
  const auto answer = wire::parse_answer(std::span{answered.front()}.subspan(4));
  REQUIRE(answer);
  CHECK(answer->from == us);
  CHECK(answer->to == id_of(1));
}

TEST_CASE("a question is answered once all neighbours have reported their links with this node") {
  for (const bool lost : {false, true}) {
    router_under_test f;
    const auto near = f.join(id_of(1));
    f.routes.add_neighbour(id_of(2), f.make_link(2));
    CHECK(f.routes.receive(id_of(2), neighbours_report{{id_of(2), 1, 1, true}, true, {}, {}}));
    CHECK(f.routes.receive(id_of(2), filter_report{{id_of(2), 1, 1, true}, {}, {}}));
    f.routes.neighbour_ready(id_of(2));
    near->take_frames();
    f.routes.receive(filter_question{id_of(1), 5, {us}});
    CHECK(near->take_frames().empty());
    if (lost)
      f.routes.remove_peers({id_of(2)});
    else
      CHECK(f.routes.receive(id_of(2), neighbours_report{{id_of(2), 1, 2, false}, true, {us}, {}}));
    const auto frames = near->take_frames();
    REQUIRE(frames.size() == 2);
    CHECK(kind_of(frames[0]) == wire::frame_kind::neighbours); // first: who asks may have to ask it
    CHECK(kind_of(frames[1]) == wire::frame_kind::answer);
  }
}

TEST_CASE("a neighbour that never reports its link keeps no question waiting for long") {
  router_under_test f;
  report_pace::time now{};
  f.routes.report_later_by([](auto) {}, [&] { return now; });
  const auto near = f.join(id_of(1));
  f.routes.add_neighbour(id_of(2), f.make_link(2));
  CHECK(f.routes.receive(id_of(2), neighbours_report{{id_of(2), 1, 1, true}, true, {}, {}}));
  f.routes.neighbour_ready(id_of(2));
  const auto answers = [&] { // to a question, beside reports
    f.routes.receive(filter_question{id_of(1), 5, {us}});
    return std::ranges::count(near->take_frames(), wire::frame_kind::answer, kind_of);
  };
  now += routing_tuning::patience_with_neighbours;
  CHECK(answers() == 0);
  now += std::chrono::milliseconds{1};
  CHECK(answers() == 1); // who asks does so again and again
}

TEST_CASE(
    "a question without hops left goes no further, nor does one at a node that does not forward") {
  for (const bool forwarding : {true, false}) {
    router_under_test f{forwarding};
    f.join(id_of(1));
    const auto beyond = f.join(id_of(2));
    const std::uint8_t hops_left = forwarding ? 1 : 5;
    f.routes.receive(filter_question{id_of(1), hops_left, {id_of(2)}});
    CHECK(beyond->take_frames().empty());
  }
}

TEST_CASE(
    "waiting until all is known asks the nodes, and ends with their answers or at the deadline") {
  router_under_test f;
  f.subscribe({"/a"});
  const auto via = f.join(id_of(1));
  CHECK_FALSE(f.routes.wait_until_known(std::chrono::steady_clock::now()));
  const auto soon = std::chrono::steady_clock::now() + std::chrono::milliseconds{1};
  CHECK_FALSE(f.routes.wait_until_known(soon));
  CHECK(kind_of(via->take_frames().at(0)) == wire::frame_kind::question);
  f.routes.receive(id_of(1), filter_answer{id_of(9), us, 16, max_number, 9}); // was not asked
  CHECK_FALSE(f.routes.wait_until_known(std::chrono::steady_clock::now()));
  f.routes.receive(id_of(1), filter_answer{id_of(1), us, 16, max_number, 9});
  CHECK(f.routes.wait_until_known(std::chrono::steady_clock::now()));
}

TEST_CASE("nodes that do not answer are asked again after a while, as long as somebody waits") {
  router_under_test f;
  report_pace::time now{};
  std::vector<std::chrono::nanoseconds> timers;
  f.routes.report_later_by([&](auto wait) { timers.push_back(wait); }, [&] { return now; });
  f.subscribe({"/a"});
  const auto via = f.join(id_of(1));
  const auto questions = [&] {
    return std::ranges::count(via->take_frames(), wire::frame_kind::question, kind_of);
  };
  const auto ring = [&] { // the timers
    timers.clear();
    now += routing_tuning::time_between_questions;
    f.routes.report_more();
  };
  auto known = std::make_shared<ready_state>();
  f.routes.when_known(known);
  CHECK(questions() == 1);
  CHECK(timers == std::vector<std::chrono::nanoseconds>{routing_tuning::time_between_questions});
  f.routes.report_more(); // it is early
  CHECK(questions() == 0);
  ring();
  CHECK(questions() == 1);
  CHECK(timers.size() == 1);
  f.routes.receive(id_of(1), filter_answer{id_of(1), us, 16, max_number, 9});
  CHECK(known->ready());
  ring();
  CHECK(timers.empty());
  f.routes.wait_until_all_has_come(now); // no question waits any more
  CHECK(questions() == 1);
  ring();
  CHECK(questions() == 0);
  CHECK(timers.empty());
}

TEST_CASE("what waits until all is known is asked for together, and ends in order") {
  router_under_test f;
  f.subscribe({"/a"});
  const auto via = f.join(id_of(1));
  f.subscribe({"/b"});
  const auto reported = via->take_frames();
  REQUIRE(reported.size() == 1);
  const auto about = wire::parse_filter_report(std::span{reported.front()}.subspan(4))->about;
  const auto wait = [&] {
    auto result = std::make_shared<ready_state>();
    f.routes.when_known(result);
    return result;
  };
  const auto first = wait();
  const auto same = wait();
  CHECK(via->take_frames().size() == 1);
  f.subscribe({"/c"});
  const auto later = wait();
  CHECK(via->take_frames().size() == 2); // a report, and a question
  const auto other = f.make_link(2);
  f.routes.add_neighbour(id_of(2), other);
  CHECK(f.routes.receive(id_of(2), neighbours_report{{id_of(2), 1, 1, true}, true, {us}, {}}));
  other->take_frames();
  f.routes.neighbour_ready(id_of(2)); // it has to know as well
  CHECK(std::ranges::count(other->take_frames(), wire::frame_kind::question, kind_of) == 1);
  const auto answer = [&](std::uint8_t who, std::uint64_t number) {
    f.routes.receive(id_of(who), filter_answer{id_of(who), us, 16, about.incarnation, number});
  };
  answer(1, about.number);
  CHECK_FALSE(first->ready());
  answer(2, about.number + 1);
  CHECK(first->ready());
  CHECK(same->ready());
  CHECK_FALSE(later->ready());
  answer(1, about.number + 1);
  CHECK(later->ready());
  f.subscribe({"/d"});
  const auto never = wait();
  f.routes.close();
  CHECK(never->closed());
  CHECK(wait()->closed());
}

TEST_CASE("only the next hop to a node hands on what that node answers") {
  router_under_test f;
  f.subscribe({"/a"});
  f.join(id_of(1));
  const auto liar = f.join(id_of(2));
  f.routes.receive(id_of(2), filter_answer{id_of(1), us, 16, max_number, 9});
  f.routes.receive(id_of(2), filter_answer{id_of(2), us, 16, max_number, 9});
  CHECK_FALSE(f.routes.wait_until_known(std::chrono::steady_clock::now()));
  f.routes.receive(id_of(1), filter_answer{id_of(1), us, 16, max_number, 9});
  CHECK(f.routes.wait_until_known(std::chrono::steady_clock::now()));
  liar->take_frames();
  f.routes.receive(id_of(1), filter_answer{id_of(3), id_of(2), 16, 1, 1});
  CHECK(liar->take_frames().empty());
}

TEST_CASE("an answer for another node is passed on towards it") {
  router_under_test f;
  const auto via = f.join(id_of(1));
  f.join(id_of(2));
  via->take_frames();
  f.routes.receive(id_of(2), filter_answer{id_of(2), id_of(1), 3, 1, 1});
  f.routes.receive(flush_answer{id_of(1), 7, 3, {id_of(2)}});
  f.routes.receive(flush_answer{id_of(1), 7, 1, {id_of(2)}}); // no hops left
  const auto frames = via->take_frames();
  REQUIRE(frames.size() == 2);
  CHECK(wire::parse_answer(std::span{frames[0]}.subspan(4))->hops_left == 2);
  CHECK(wire::parse_flushed(std::span{frames[1]}.subspan(4))->hops_left == 2);
}

TEST_CASE("a peer that does not read what it is sent about the network loses its link") {
  router_under_test f;
  const auto via = f.join(id_of(1));
  via->push_control(buffer(link_tuning::max_unread_news_bytes + 1));
  f.subscribe({"/a"});
  f.loop->run();
  CHECK(via->closed());
  CHECK(via->reason() == errc::limit_exceeded);
}

TEST_CASE("closing ends all subscriptions, and a subscriber that comes later gets nothing") {
  router_under_test f;
  auto queue = std::make_shared<message_queue>(queue_options{});
  f.routes.add_subscriber(queue, {"/a"});
  f.routes.close();
  CHECK(queue->finished());
  CHECK(f.routes.count("/a") == 0);
  auto late = std::make_shared<message_queue>(queue_options{});
  f.routes.add_subscriber(late, {"/a"});
  CHECK(late->finished());
  CHECK_FALSE(f.routes.wait_for("/a", 1, std::chrono::hours{1}));
}
