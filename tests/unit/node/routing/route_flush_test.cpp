// SPDX-License-Identifier: BSD-3-Clause
#include "node/routing/route_flush.hpp"

#include "node/routing/tuning.hpp"
#include "support/fake_link.hpp"
#include "support/ids.hpp"
#include "wire/native/network.hpp"

#include <doctest/doctest.h>

using namespace pubsub;
using namespace pubsub::test;

namespace {

struct flushed_link {
  explicit flushed_link(overflow_policy policy = overflow_policy::block)
      : via(std::make_shared<fake_link>(loop, queue_options{policy, 100, 1 << 20})) {
    via->begin_messages(2, us, 1 << 20);
  }
  std::shared_ptr<route_flush> begin() {
    return all.begin({via, 2, {id_of(1), id_of(2)}}, [this] { ++settled; });
  }
  std::vector<flush_request> sent() {
    std::vector<flush_request> result;
    for (const auto& each : via->take_frames())
      result.push_back(*wire::parse_flush(std::span{each}.subspan(4)));
    return result;
  }
  void answer(std::uint32_t number, const endpoint_id& from) {
    all.receive({us, number, 16, {from}});
  }

  std::shared_ptr<fake_loop> loop = std::make_shared<fake_loop>();
  std::shared_ptr<fake_link> via;
  route_flushes all{us};
  int settled = 0;
};

} // namespace

TEST_CASE("a flush is settled when all nodes have answered, and says so once") {
  flushed_link f;
  const auto flush = f.begin();
  const auto first = f.sent();
  REQUIRE(first.size() == 1);
  CHECK(first[0].from == us);
  CHECK(first[0].hops == 2);
  CHECK(first[0].to == std::vector{id_of(1), id_of(2)});
  f.answer(first[0].number + 1, id_of(1)); // of another flush
  f.answer(first[0].number, id_of(1));
  CHECK_FALSE(flush->settled());
  CHECK(f.settled == 0);
  f.answer(first[0].number, id_of(2));
  f.answer(first[0].number, id_of(2));
  CHECK(flush->settled());
  CHECK(f.settled == 1);
  CHECK(flush->wait(std::chrono::steady_clock::now()));
}

TEST_CASE("a flush is sent again to those that have not answered") {
  flushed_link f;
  const auto flush = f.begin();
  const auto number = f.sent().at(0).number;
  f.answer(number, id_of(1));
  CHECK_FALSE(flush->settled());
  CHECK(f.sent().empty()); // not yet
  f.loop->advance(routing_tuning::time_between_flushes);
  CHECK_FALSE(flush->settled());
  const auto again = f.sent();
  REQUIRE(again.size() == 1);
  CHECK(again[0].number == number);
  CHECK(again[0].to == std::vector{id_of(2)});
}

TEST_CASE("a flush is waited for no longer than producers would wait") {
  for (const auto policy : {overflow_policy::block, overflow_policy::drop_oldest}) {
    flushed_link f{policy};
    const auto flush = f.begin();
    const auto patience = policy == overflow_policy::block
                              ? routing_tuning::patience_of_producers_that_wait
                              : routing_tuning::patience_of_others;
    f.loop->advance(patience - std::chrono::milliseconds{1});
    CHECK_FALSE(flush->settled());
    f.loop->advance(std::chrono::milliseconds{1});
    CHECK(flush->settled());
  }
}

TEST_CASE("a flush on a link that has closed is given up after a while, and not sent again") {
  flushed_link f;
  const auto flush = f.begin();
  f.sent();
  f.via->end({});
  CHECK_FALSE(flush->settled());
  f.loop->advance(routing_tuning::patience_after_closing - std::chrono::milliseconds{1});
  CHECK_FALSE(flush->settled());
  CHECK(f.sent().empty());
  f.loop->advance(std::chrono::milliseconds{1});
  CHECK(flush->settled());
}
