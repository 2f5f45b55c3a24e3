// Actors that subscribe and publish, with endpoints and links as they are.
// SPDX-License-Identifier: BSD-3-Clause
#include <atomic>
#include <future>
#include <limits>

#include <caf/all.hpp>
#include <caf/binary_deserializer.hpp>
#include <caf/binary_serializer.hpp>

#include <doctest/doctest.h>

#include <pubsub/caf/actors.hpp>

#include "support/nodes.hpp"
#include "support/published.hpp"

using namespace pubsub;
using namespace pubsub::test;
using namespace std::chrono_literals;
namespace actors = pubsub::caf;

namespace {

/// Before there is a configuration; once a process.
struct known_types {
  known_types() {
    actors::init_types();
#if PUBSUB_CAF_VERSION >= 1800
    ::caf::core::init_global_meta_objects();
#endif
  }
};

struct actor_world {
  actor_world() { actors::add_message_types(config); }

  static inline const known_types types;
  ::caf::actor_system_config config;
  ::caf::actor_system system{config};
};

/// What an actor has seen, for the test to look at.
struct seen {
  std::atomic<std::uint64_t> messages{0}, batches{0}, out_of_order{0}, largest_batch{0};
  std::promise<void> ended;

  void add(const actors::message_batch& batch) {
    if (batch.size() > largest_batch)
      largest_batch = batch.size();
    for (const auto& each : batch)
      if (get_data(each) != data{count{messages++}})
        ++out_of_order;
    ++batches;
  }
};

/// The bytes that another process would get.
template <class T>
actors::encoded_bytes written(::caf::actor_system& system, T x) {
  actors::encoded_bytes bytes;
  ::caf::binary_serializer sink{system, bytes};
#if PUBSUB_CAF_VERSION < 1800
  REQUIRE_FALSE(sink(x));
#else
  REQUIRE(sink.apply(x));
#endif
  return bytes;
}

template <class T>
bool read(::caf::actor_system& system, const actors::encoded_bytes& bytes, T& x) {
  ::caf::binary_deserializer source{system, bytes};
#if PUBSUB_CAF_VERSION < 1800
  return !source(x);
#else
  return source.apply(x);
#endif
}

bool is_ready(std::promise<void>& x) {
  return x.get_future().wait_for(patience) == std::future_status::ready;
}

} // namespace

TEST_CASE("an actor gets what it has subscribed to in order, and its subscription ends with it") {
  endpoint ep;
  seen result;
  actor_world world;
  const auto reader = world.system.spawn([&](::caf::event_based_actor* self) -> ::caf::behavior {
    actors::subscribe(self, ep, {"/t"});
    self->attach_functor([&] { result.ended.set_value(); });
    return {[&](const actors::message_batch& batch) { result.add(batch); }};
  });
  REQUIRE(ep.wait_for_subscribers("/t", 1, patience));
  for (std::uint64_t i = 0; i < 50'000; ++i)
    sent(ep.publish("/t", count{i}));
  CHECK(eventually([&] { return result.messages == 50'000; }));
  CHECK(result.out_of_order == 0);
  CHECK(result.largest_batch <= actors::feed_options{}.batch_messages);
  ::caf::anon_send_exit(reader, ::caf::exit_reason::user_shutdown);
  CHECK(is_ready(result.ended));
  CHECK(eventually([&] { return ep.subscribers("/t") == 0; }));
}

TEST_CASE("a slow actor holds publishers back, and its mailbox has no more than its batches") {
  endpoint ep;
  seen result;
  std::promise<void> go_on;
  auto may_go_on = go_on.get_future().share();
  actor_world world;
  const auto reader =
      world.system.spawn<::caf::detached>([&](::caf::event_based_actor* self) -> ::caf::behavior {
        actors::subscribe(self, ep.make_subscriber({"/t"}, {.capacity_messages = 16}),
                          {.batch_messages = 4, .batches = 2});
        return {[&, may_go_on](const actors::message_batch& batch) {
          may_go_on.wait();
          result.add(batch);
        }};
      });
  REQUIRE(ep.wait_for_subscribers("/t", 1, patience));
  std::uint64_t taken = 0;
  const auto fill = [&] {
    while (ep.try_publish("/t", count{taken}) == publish_result::taken)
      ++taken;
  };
  CHECK(eventually([&] { // until the subscription has handed on all it may
    fill();
    return taken >= 16 + 1 + 4;
  }));
  CHECK(taken <= 16 + 2 * 4);
  CHECK(ep.publish_for("/t", count{taken}, 50ms) == publish_result::would_block);
  go_on.set_value();
  for (; taken < 1'000; ++taken)
    sent(ep.publish("/t", count{taken}));
  CHECK(eventually([&] { return result.messages == taken; }));
  CHECK(result.out_of_order == 0);
  CHECK(result.largest_batch <= 4);
  ::caf::anon_send_exit(reader, ::caf::exit_reason::user_shutdown);
}

TEST_CASE("what an actor is too slow for is dropped and counted where its queue says so") {
  endpoint ep;
  auto sub =
      ep.make_subscriber({"/t"}, {.policy = overflow_policy::drop_newest, .capacity_messages = 8});
  std::uint64_t dropped = 0;
  std::atomic<std::uint64_t> got{0};
  std::promise<void> go_on;
  auto may_go_on = go_on.get_future().share();
  actor_world world;
  const auto reader =
      world.system.spawn<::caf::detached>([&](::caf::event_based_actor* self) -> ::caf::behavior {
        actors::subscribe(self, std::move(sub), {.batch_messages = 1, .batches = 1});
        return {[&, may_go_on](const actors::message_batch& batch) {
          may_go_on.wait();
          got += batch.size();
        }};
      });
  for (std::uint64_t i = 0; i < 100; ++i)
    dropped += ep.publish("/t", count{i}) == publish_result::dropped ? 1 : 0;
  CHECK(dropped >= 100 - 8 - 1);
  go_on.set_value();
  CHECK(eventually([&] { return got == 100 - dropped; }));
  ::caf::anon_send_exit(reader, ::caf::exit_reason::user_shutdown);
}

TEST_CASE("an actor whose endpoint closes gets all that was there, and is told by a down message") {
  auto ep = std::make_unique<endpoint>();
  seen result;
  std::promise<::caf::error> reason;
  actor_world world;
  world.system.spawn([&](::caf::event_based_actor* self) -> ::caf::behavior {
    const auto subscription = actors::subscribe(self, *ep, {"/t"});
    self->set_down_handler([&, self, subscription](const ::caf::down_msg& x) {
      CHECK(x.source == subscription.address());
      reason.set_value(x.reason);
      self->quit();
    });
    return {[&](const actors::message_batch& batch) { result.add(batch); }};
  });
  REQUIRE(ep->wait_for_subscribers("/t", 1, patience));
  for (std::uint64_t i = 0; i < 1'000; ++i)
    sent(ep->publish("/t", count{i}));
  ep.reset();
  auto told = reason.get_future();
  REQUIRE(told.wait_for(patience) == std::future_status::ready);
  CHECK((told.get() == ::caf::exit_reason::user_shutdown));
  CHECK(result.messages == 1'000);
}

TEST_CASE("an actor that is linked with its subscription ends with the endpoint") {
  auto ep = std::make_unique<endpoint>();
  std::promise<void> ended;
  actor_world world;
  world.system.spawn([&](::caf::event_based_actor* self) -> ::caf::behavior {
    self->link_to(actors::subscribe(self, *ep, {"/t"}));
    self->set_down_handler([](const ::caf::down_msg&) {});
    self->attach_functor([&] { ended.set_value(); });
    return {[](const actors::message_batch&) {}};
  });
  REQUIRE(ep->wait_for_subscribers("/t", 1, patience));
  ep.reset();
  CHECK(is_ready(ended));
}

TEST_CASE("an actor ends a subscription, and may keep its messages") {
  endpoint ep;
  std::promise<data_message> kept;
  actor_world world;
  const auto reader = world.system.spawn([&](::caf::event_based_actor* self) -> ::caf::behavior {
    const auto subscription = actors::subscribe(self, ep, {"/t"});
    self->set_down_handler([](const ::caf::down_msg&) {});
    return {[&, self, subscription](const actors::message_batch& batch) {
      kept.set_value(batch[0]);
      self->send_exit(subscription, ::caf::exit_reason::user_shutdown);
    }};
  });
  REQUIRE(ep.wait_for_subscribers("/t", 1, patience));
  sent(ep.publish("/t", "kept"));
  CHECK(eventually([&] { return ep.subscribers("/t") == 0; }));
  CHECK(get_data(kept.get_future().get()) == data{"kept"});
  ::caf::anon_send_exit(reader, ::caf::exit_reason::user_shutdown);
}

TEST_CASE(
    "messages come from actor to actor over a relay, none lost, and each held back by the next") {
  constexpr std::uint64_t all = 1'000'000, at_once = 500;
  endpoint relay{forwarding_on()}, from, to;
  const auto uri = local_uri(*relay.listen("tcp://127.0.0.1:0"));
  REQUIRE(from.peer(uri).has_value());
  REQUIRE(to.peer(uri).has_value());
  seen result;
  std::atomic<std::uint64_t> taken{0};
  actor_world world;
  const auto reader = world.system.spawn([&](::caf::event_based_actor* self) -> ::caf::behavior {
    actors::subscribe(self, to, {"/t"});
    return {[&](const actors::message_batch& batch) { result.add(batch); }};
  });
  REQUIRE(from.wait_for_subscribers("/t", 1, patience));
  const auto publisher = actors::spawn_publisher(world.system, from.make_publisher("/t"));
  std::function<void(::caf::event_based_actor*, std::uint64_t)> publish =
      [&](::caf::event_based_actor* self, std::uint64_t first) {
        std::vector<data> numbers;
        for (auto i = first; i < first + at_once; ++i)
          numbers.emplace_back(count{i});
        self->request(publisher, ::caf::infinite, std::move(numbers))
            .then([&, self, first](std::uint64_t n) {
              taken += n;
              if (first + at_once < all)
                publish(self, first + at_once);
            });
      };
  world.system.spawn([&](::caf::event_based_actor* self) { publish(self, 0); });
  CHECK(eventually([&] { return result.messages == all; }));
  CHECK(taken == all);
  CHECK(result.out_of_order == 0);
  ::caf::anon_send_exit(publisher, ::caf::exit_reason::user_shutdown);
  ::caf::anon_send_exit(reader, ::caf::exit_reason::user_shutdown);
}

TEST_CASE(
    "a publishing actor takes values and messages, one or many, and says how many were taken") {
  endpoint ep;
  auto sub =
      ep.make_subscriber({"/t"}, {.policy = overflow_policy::drop_newest, .capacity_messages = 6});
  actor_world world;
  const auto publisher = actors::spawn_publisher(world.system, ep.make_publisher("/t"));
  {
    ::caf::scoped_actor self{world.system};
    const auto asks = [&](auto what) {
      std::uint64_t result = 99;
      self->request(publisher, ::caf::infinite, std::move(what))
          .receive([&](std::uint64_t n) { result = n; },
                   [](const ::caf::error& x) { FAIL(to_string(x)); });
      return result;
    };
    CHECK(asks(data{count{0}}) == 1);
    CHECK(asks(make_data_message("/other", count{1})) == 1);
    CHECK(asks(std::vector<data>{count{2}, count{3}}) == 2);
    CHECK(asks(std::vector<data_message>(3, make_data_message("/t", count{4}))) ==
          2); // of 6 in all
  }
  for (const std::uint64_t each : {0, 1, 2, 3, 4, 4})
    CHECK(next_number(sub) == each);
  ::caf::anon_send_exit(publisher, ::caf::exit_reason::user_shutdown);
}

TEST_CASE(
    "values and messages cross to other processes of actors as bytes, and bad bytes are errors") {
  actor_world world;
  const data value{vector{count{7}, -1, 0.5, true, "text", none{}, vector{vector{}, "deep"}}};
  const auto crossed = [&](const auto& x, std::size_t cut) {
    auto bytes = written(world.system, x);
    bytes.resize(bytes.size() - cut);
    auto copy = x;
    copy = {};
    CHECK(read(world.system, bytes, copy) == (cut == 0));
    return copy;
  };
  CHECK(crossed(value, 0) == value);
  CHECK(crossed(value, 1) == data{});
  const auto msg = crossed(make_data_message("/t", value), 0);
  CHECK(get_topic(msg) == "/t");
  CHECK(get_data(msg) == value);
  CHECK_FALSE(is_data_message(crossed(data_message{}, 0)));
  data untouched{count{1}};
  CHECK_FALSE(
      actors::decode(actors::encoded_bytes{actors::encoded_bytes::value_type(0x7f)}, untouched));
  CHECK(untouched == data{count{1}});
}
