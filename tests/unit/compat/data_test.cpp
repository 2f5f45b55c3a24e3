// Broker's values: their order, hashes, text, and what becomes of them in encoded bytes.
// SPDX-License-Identifier: BSD-3-Clause
#include <pubsub/compat/broker.hpp>
#include <pubsub/format.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <unordered_set>

namespace {

broker::data one_of_each() {
  broker::address v4;
  broker::address v6;
  REQUIRE(convert(std::string{"192.0.2.1"}, v4));
  REQUIRE(convert(std::string{"2001:db8::1"}, v6));
  return broker::vector{broker::nil,
                        true,
                        7u,
                        -7,
                        0.25,
                        std::string{"te\0xt", 5},
                        v4,
                        broker::subnet{v6, 32},
                        broker::subnet{v4, 24},
                        broker::port{80, broker::port::protocol::tcp},
                        broker::timestamp{broker::timespan{5}},
                        broker::timespan{-5},
                        broker::enum_value{"Conn::LOG"},
                        broker::set{3, 1, 2, "x", broker::vector{1u}},
                        broker::table{{"b", 2u}, {broker::set{1}, broker::vector{1, 2}}}};
}

/// Sets in sets, one member each; `innermost` in the middle.
broker::data nested(unsigned depth, broker::data innermost) {
  for (; depth > 0; --depth)
    innermost = broker::set{std::move(innermost)};
  return innermost;
}

} // namespace

TEST_CASE("values that stand in for Broker's are the same after a way through encoded bytes") {
  const auto value = one_of_each();
  const auto bytes = broker::detail::encoded(value);
  const auto view = pubsub::data_view::make(bytes.bytes());
  REQUIRE(view);
  CHECK(broker::detail::decode(*view) == value);
  // What the library itself makes of the bytes says the same.
  CHECK(pubsub::to_string(view->to_data()) == broker::to_string(value));
}

TEST_CASE("values that stand in for Broker's are ordered as the library orders them") {
  const auto all = broker::get<broker::vector>(one_of_each());
  for (const auto& x : all)
    for (const auto& y : all) {
      const auto x_bytes = broker::detail::encoded(x);
      const auto y_bytes = broker::detail::encoded(y);
      const auto native_x = pubsub::data_view::from_valid(x_bytes.bytes()).to_data();
      const auto native_y = pubsub::data_view::from_valid(y_bytes.bytes()).to_data();
      CHECK((x <=> y) == (native_x <=> native_y));
      CHECK((x == y) == (std::hash<broker::data>{}(x) == std::hash<broker::data>{}(y)));
    }
}

TEST_CASE("NaN can be a member of a set that stands in for Broker's, once") {
  const auto nan = std::numeric_limits<double>::quiet_NaN();
  const broker::set members{nan, 1.0, nan, -1.0};
  CHECK(members.size() == 3);
  CHECK(std::isnan(broker::get<broker::real>(*members.rbegin())));
  const auto bytes = broker::detail::encoded(members);
  const auto view = pubsub::data_view::make(bytes.bytes());
  REQUIRE(view);
  CHECK(broker::detail::decode(*view) == broker::data{members});
  CHECK(broker::data{0.0} == broker::data{-0.0});
  CHECK(std::hash<broker::data>{}(broker::data{0.0}) ==
        std::hash<broker::data>{}(broker::data{-0.0}));
}

TEST_CASE("comparing sets in sets takes one look at each, however deep they are") {
  // With two looks a level this would take 2^60 steps.
  CHECK(nested(60, 1) < nested(60, 2));
  CHECK(nested(60, 1) == nested(60, 1));
  CHECK(broker::vector{nested(60, 1)} < broker::vector{nested(60, 2)});
  CHECK(broker::table{{nested(60, 1), 1}} < broker::table{{nested(60, 1), 2}});
}

TEST_CASE("what stands in for Broker's data becomes of a C++ value what Broker makes of it") {
  using type = broker::data::type;
  CHECK(broker::data{}.get_type() == type::none);
  CHECK(broker::data{true}.get_type() == type::boolean);
  CHECK(broker::data{std::uint8_t{1}}.get_type() == type::count);
  CHECK(broker::data{short{1}}.get_type() == type::integer);
  CHECK(broker::data{1.0F}.get_type() == type::real);
  CHECK(broker::data{"text"}.get_type() == type::string);
  CHECK(broker::data{std::string_view{"text"}}.get_type() == type::string);
  CHECK(broker::data{std::string{"text"}}.get_type() == type::string);
  static_assert(!std::is_constructible_v<broker::data, int*>);
  static_assert(!std::is_convertible_v<broker::topic, broker::data>);
}

TEST_CASE("members of Broker's data that ask for another type give what was given for that case") {
  const broker::data number = 5u;
  CHECK(number.to_count() == 5);
  CHECK(number.to_integer(7) == 7);
  CHECK(number.to_string().empty());
  CHECK(number.to_list().empty());
  CHECK(number.to_set().empty());
  CHECK(number.to_table().empty());
  CHECK(number.to_enum_value().name.empty());
  CHECK_FALSE(number.is_list());
  CHECK_THROWS_AS(broker::get<std::string>(number), broker::bad_variant_access);
}

TEST_CASE("visitors of Broker's data get references of what it holds") {
  broker::data text = "before";
  broker::visit(
      [](auto& held) {
        if constexpr (std::is_same_v<decltype(held), std::string&>)
          held = "after";
      },
      text);
  CHECK(text == broker::data{"after"});
  const auto size = broker::visit(
      [](const auto& held) -> std::size_t {
        if constexpr (requires { held.size(); })
          return held.size();
        return 0;
      },
      broker::data{broker::vector{1, 2, 3}});
  CHECK(size == 3);
}

TEST_CASE("what stands in for Broker's conversions reads text, and says where it cannot") {
  CHECK(broker::to<broker::port>("80/tcp") == broker::port{80, broker::port::protocol::tcp});
  CHECK_FALSE(broker::to<broker::port>("80/what"));
  CHECK(broker::from_string<broker::address>("10.0.0.1"));
  CHECK_FALSE(broker::from_string<broker::address>("10.0.0.256"));
  CHECK(broker::to<broker::subnet>("10.0.0.0/8")->length() == 8);
  CHECK_THROWS_AS(broker::get_as<broker::subnet>("10.0.0.0"), std::logic_error);
  CHECK(broker::to<broker::sc>(broker::data{broker::enum_value{"peer_lost"}}) ==
        broker::sc::peer_lost);
  CHECK_FALSE(broker::to<broker::ec>("no such code"));
  broker::timespan span{5};
  CHECK_FALSE(broker::convert(1e30, span));
  CHECK_FALSE(broker::convert(std::nan(""), span));
  CHECK(span == broker::timespan{5});
  CHECK(broker::to_string(broker::endpoint_id{}) == "00000000-0000-0000-0000-000000000000");
}

TEST_CASE("Broker's builders make the containers that their members name") {
  const auto made = broker::list_builder{}.add(1).add("two").add_list(3u, 4u).add_set(2, 1).build();
  CHECK(made == broker::data{broker::vector{1, "two", broker::vector{3u, 4u}, broker::set{1, 2}}});
  CHECK(broker::set_builder{}.add(2).add(1).add(2).build() == broker::data{broker::set{1, 2}});
  CHECK(broker::table_builder{}.add("k", 1).build() == broker::data{broker::table{{"k", 1}}});
}

TEST_CASE(
    "a message that stands in for Broker's is copied only when it is written to, and shared") {
  auto msg = broker::make_data_message("/topic", broker::data{"value"});
  const auto copy = msg;
  CHECK(&get_data(msg) == &get_data(copy));
  CHECK(move_data(msg) == broker::data{"value"});
  CHECK(get_data(copy) == broker::data{"value"});
  CHECK(copy->topic() == "/topic");
  CHECK(broker::get<0>(copy) == broker::topic{"/topic"});
  const broker::data_message none;
  CHECK(none == nullptr);
  CHECK(get_topic(none).string().empty());
  CHECK(get_data(none).is_none());
}
