// Statuses and errors by Broker's classes: what they say, and as messages.
// SPDX-License-Identifier: BSD-3-Clause
#include <pubsub/compat/broker.hpp>

#include <doctest/doctest.h>

namespace {

const broker::endpoint_info somewhere{
    broker::endpoint_id::random(),
    broker::network_info{"127.0.0.1", 9999, broker::timeout::seconds{3}}};

template <class T>
std::optional<T> there_and_back(const T& x) {
  broker::data between;
  REQUIRE(broker::convert(x, between));
  return broker::to<T>(between);
}

} // namespace

TEST_CASE("statuses and errors by Broker's classes come back from a message as they were") {
  const auto lost = broker::status::make<broker::sc::peer_lost>(somewhere, "it is gone");
  const auto read = there_and_back(lost);
  REQUIRE(read);
  CHECK(*read == lost);
  CHECK(*read->context() == somewhere);
  CHECK(*read->message() == "it is gone");
  CHECK(there_and_back(broker::status{}) == broker::status{});

  const auto failed =
      there_and_back(broker::error{broker::ec::peer_unavailable, somewhere, "no \"answer\""});
  REQUIRE(failed);
  CHECK(*failed == broker::ec::peer_unavailable);
  CHECK(*failed->context() == somewhere);
  CHECK(to_string(*failed) == "peer_unavailable(endpoint_info(" + to_string(somewhere.node) +
                                  ", *127.0.0.1:9999), \"no \\\"answer\\\"\")");
  const auto without_peer = there_and_back(broker::error{broker::ec::type_clash, "what"});
  REQUIRE(without_peer);
  CHECK(without_peer->context() == nullptr);
  CHECK(*without_peer->message() == "what");
  CHECK(there_and_back(broker::error{broker::ec::no_such_key})->message() == nullptr);
  CHECK_FALSE(*there_and_back(broker::error{}));
}

TEST_CASE("a message that is no status and no error of Broker's becomes none") {
  const auto code = broker::enum_value{"peer_lost"};
  const broker::data nobody = broker::vector{broker::nil, broker::nil, broker::nil, broker::nil};
  CHECK(broker::to<broker::status>(broker::data{broker::vector{"status", code, nobody, "text"}}));
  for (const broker::data& bad :
       {broker::data{}, broker::data{"status"},
        broker::data{broker::vector{"status", code, nobody}},
        broker::data{broker::vector{"error", code, nobody, "text"}},
        broker::data{broker::vector{"status", broker::enum_value{"no_code"}, nobody, "text"}},
        broker::data{broker::vector{"status", code, nobody, 5}},
        broker::data{broker::vector{"status", code, 5, "text"}},
        broker::data{broker::vector{"status", code,
                                    broker::vector{"no id", broker::nil, broker::nil, broker::nil},
                                    "text"}},
        broker::data{broker::vector{"status", code,
                                    broker::vector{broker::nil, "host", broker::nil, broker::nil},
                                    "text"}}}) {
    CHECK_FALSE(broker::to<broker::status>(bad));
    CHECK_FALSE(broker::to<broker::error>(bad));
  }
  const auto failure = broker::enum_value{"type_clash"};
  CHECK_FALSE(broker::to<broker::error>(broker::data{broker::vector{"error", failure, 5}}));
  CHECK_FALSE(broker::to<broker::error>(
      broker::data{broker::vector{"error", failure, broker::vector{5, "text"}}}));
}

TEST_CASE("Broker's expected says whether there is a value, and throws where there is none") {
  broker::expected<std::string> good{"value"};
  CHECK(good);
  CHECK(*good == "value");
  CHECK(good->size() == 5);
  CHECK_FALSE(good.error());
  const broker::expected<std::string> bad{broker::ec::no_such_key};
  CHECK_FALSE(bad);
  CHECK(bad.error() == broker::ec::no_such_key);
  CHECK_THROWS_AS(*bad, broker::bad_variant_access);
  good = broker::ec::type_clash;
  CHECK_FALSE(good.has_value());
  const broker::expected<broker::data> number{broker::data{5}};
  const broker::expected<broker::data> none{broker::ec::no_such_key};
  CHECK(number == 5);
  CHECK(5 == number);
  CHECK(number != 5u);
  CHECK(number == broker::data{5});
  CHECK(number == broker::expected<broker::data>{broker::data{5}});
  CHECK(number != none);
  CHECK(number != broker::ec::no_such_key);
  CHECK(none != 5);
  CHECK(none == broker::ec::no_such_key);
  CHECK(none == broker::error{broker::ec::no_such_key, "whatever is said of it"});
  CHECK(none != broker::expected<broker::data>{broker::ec::type_clash});
  CHECK(to_string(number) == "5");
  CHECK(to_string(none) == "!no_such_key");
  CHECK(broker::expected<void>{});
  CHECK_FALSE(broker::expected<void>{broker::ec::unspecified});
}
