// SPDX-License-Identifier: BSD-3-Clause
#include <pubsub/data.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

using namespace pubsub;

static_assert(std::is_nothrow_move_constructible_v<data>);

namespace {

// One member around `x`, `depth` times.
data nested(data x, int depth) {
  for (; depth > 0; --depth) {
    vector outer;
    outer.push_back(std::move(x));
    x = std::move(outer);
  }
  return x;
}

} // namespace

TEST_CASE("values order first by type and then by content") {
  const vector ascending{none{},
                         false,
                         true,
                         count{0},
                         count{1},
                         integer{-5},
                         integer{1},
                         -1.5,
                         0.0,
                         2.5,
                         "",
                         "B",
                         "a",
                         "aa",
                         "\xff",
                         address::v4(1),
                         address::v4(2),
                         *subnet::parse("10.0.0.0/8"),
                         *subnet::parse("10.0.0.0/9"),
                         port{53, transport::udp},
                         port{80, transport::tcp},
                         timestamp{timespan{-1}},
                         timestamp{timespan{1}},
                         timespan{-1},
                         timespan{1},
                         enum_value{"A"},
                         enum_value{"B"},
                         set{},
                         set{count{1}},
                         set{count{1}, count{2}},
                         set{count{2}},
                         table{},
                         table{{count{1}, count{2}}},
                         table{{count{1}, count{3}}},
                         table{{count{2}, count{0}}},
                         vector{},
                         vector{count{1}},
                         vector{count{1}, count{9}},
                         vector{count{2}, count{1}}};
  for (std::size_t i = 0; i < ascending.size(); ++i)
    for (std::size_t j = 0; j < ascending.size(); ++j) {
      CHECK((ascending[i] < ascending[j]) == (i < j));
      CHECK((ascending[i] == ascending[j]) == (i == j));
      CHECK((ascending[i] >= ascending[j]) == (i >= j));
    }
}

TEST_CASE("both zeros are one value and NaN has its place behind all reals") {
  const data nan = std::nan("");
  CHECK(data{0.0} == data{-0.0});
  CHECK(nan == nan);
  CHECK(data{std::numeric_limits<double>::infinity()} < nan);
  CHECK(nan < data{""});
  const set reals{nan, 1.0, -0.0, 0.0, nan};
  CHECK(reals.size() == 3);
}

TEST_CASE("comparing deeply nested equal values takes linear time") {
  // Comparing twice at each level would take 2^400 steps.
  const auto x = nested(count{1}, 400);
  const auto y = nested(count{1}, 400);
  CHECK(x == y);
  CHECK_FALSE(x < y);
  CHECK(x < nested(count{2}, 400));
}

TEST_CASE("integers keep their signedness and chars of text stay text") {
  CHECK(data{1}.is<integer>());
  CHECK(data{1U}.is<count>());
  CHECK(data{std::uint8_t{1}}.is<count>());
  CHECK(data{true}.is<boolean>());
  CHECK(data{1.0F}.is<real>());
  CHECK(data{"x"}.is<std::string>());
  CHECK(data{}.is<none>());
  CHECK(data{timespan{1}}.type() == data_type::timespan);
}

TEST_CASE("getting a value checks its type") {
  const data x = count{4};
  CHECK(get<count>(x) == 4);
  CHECK(get_if<integer>(x) == nullptr);
  CHECK_THROWS_AS(get<integer>(x), std::bad_variant_access);
}

TEST_CASE("types have the names of json::v1") {
  CHECK(to_string(data_type::none) == "none");
  CHECK(to_string(data_type::enum_value) == "enum-value");
  CHECK(to_string(data_type::timespan) == "timespan");
  CHECK(to_string(data_type::vector) == "vector");
  CHECK(to_string(static_cast<data_type>(15)) == "invalid");
}
