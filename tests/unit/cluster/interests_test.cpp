// SPDX-License-Identifier: BSD-3-Clause
#include "cluster/interests.hpp"

#include <doctest/doctest.h>

using pubsub::cluster::interests;
using names = std::set<std::string>;

TEST_CASE("what others subscribe to is counted, and gone with the last of them") {
  interests all;
  CHECK(all.note({true, "a"}));
  CHECK_FALSE(all.note({true, "a"}));
  CHECK(all.note({true, "b"}));
  CHECK(all.of_others() == names{"a", "b"});
  CHECK_FALSE(all.note({false, "a"}));
  CHECK(all.of_others() == names{"a", "b"});
  CHECK(all.note({false, "a"}));
  CHECK(all.of_others() == names{"b"});
}

TEST_CASE("own subscriptions that come back are not those of others") {
  interests all;
  all.expect_own("a", true);
  CHECK_FALSE(all.note({true, "a"}));
  CHECK(all.of_others().empty());
  CHECK(all.note({true, "a"}));
  CHECK(all.of_others() == names{"a"});
  all.expect_own("a", false);
  CHECK_FALSE(all.note({false, "a"}));
  CHECK(all.of_others() == names{"a"});
}

TEST_CASE("whose of two equal subscriptions comes first does not matter") {
  interests all;
  all.expect_own("a", true);
  CHECK_FALSE(all.note({true, "a"})); // that of another node, perhaps
  CHECK(all.note({true, "a"}));
  all.expect_own("a", false);
  CHECK_FALSE(all.note({false, "a"}));
  CHECK(all.note({false, "a"}));
  CHECK(all.of_others().empty());
}

TEST_CASE("an end of what was never begun changes nothing") {
  interests all;
  CHECK_FALSE(all.note({false, "a"}));
  CHECK(all.note({true, "a"}));
}

TEST_CASE("a node that makes up prefixes does not make the member hold them all") {
  interests all;
  for (std::size_t i = 0; i < interests::max_prefixes + 10; ++i)
    all.note({true, std::to_string(i)});
  CHECK(all.of_others().size() == interests::max_prefixes);
}
