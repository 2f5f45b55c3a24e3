// SPDX-License-Identifier: BSD-3-Clause
#include "cluster/client/connection_plan.hpp"

#include <doctest/doctest.h>

using namespace pubsub::cluster;
using kind = connection_step::kind;

namespace {

using texts = std::vector<std::string>;

/// What was to be opened is.
connection_step done(connection_plan& plan, const std::set<std::string>& wanted) {
  auto step = plan.follow(wanted);
  if (step.what != kind::none)
    plan.opened();
  return step;
}

} // namespace

TEST_CASE("the first connection is opened whatever is wanted") {
  connection_plan plan;
  const auto step = plan.follow({});
  CHECK(step.what == kind::open);
  CHECK(step.prefixes.empty());
  plan.opened();
  CHECK(plan.size() == 1);
  CHECK(plan.follow({}).what == kind::none);
  CHECK_FALSE(plan.owner("x"));
  CHECK(plan.publishing("x") == 0);
}

TEST_CASE("a connection takes the shortest of the prefixes that no other has") {
  connection_plan plan;
  CHECK(done(plan, {"b", "a/", "a/b", "a", "ab"}).prefixes == texts{"a", "b"});
  CHECK(done(plan, {"a", "a/c", "b"}).what == kind::none);
  const auto more = done(plan, {"a", "c", "c/d", "bb"});
  CHECK(more.what == kind::open);
  CHECK(more.prefixes == texts{"c"});
}

TEST_CASE("what is wanted while a connection is being opened is looked at later") {
  connection_plan plan;
  CHECK(plan.follow({"a"}).what == kind::open);
  CHECK(plan.follow({"a", "b"}).what == kind::none);
  plan.opened();
  CHECK(plan.follow({"a", "b"}).prefixes == texts{"b"});
}

TEST_CASE("a topic belongs to the first connection that has a prefix of it") {
  connection_plan plan;
  done(plan, {"a/b", "x"});
  done(plan, {"a/"});
  done(plan, {""});
  CHECK(plan.owner("a/b/c") == 0);
  CHECK(plan.owner("x") == 0);
  CHECK(plan.owner("a/c") == 1);
  CHECK(plan.owner("b") == 2);
  CHECK(plan.owner("") == 2);
  CHECK(plan.publishing("a/c") == 1);
}

TEST_CASE("among many prefixes the one of a topic is found") {
  connection_plan plan;
  std::set<std::string> wanted;
  for (int i = 0; i < 1000; ++i)
    wanted.insert("topic/" + std::to_string(i) + "/");
  done(plan, wanted);
  for (int i = 0; i < 1000; ++i)
    CHECK(plan.owner("topic/" + std::to_string(i) + "/x") == 0);
  CHECK_FALSE(plan.owner("topic/1000/x"));
  CHECK_FALSE(plan.owner("topic/1"));
  CHECK_FALSE(plan.owner("topic"));
  CHECK_FALSE(plan.owner("zzz"));
}

TEST_CASE("in place of one connection too many, one takes the place of all") {
  connection_plan plan;
  for (const auto* each : {"a", "b", "c", "d"})
    CHECK(done(plan, {each}).what == kind::open);
  CHECK(plan.size() == connection_plan::max_connections);
  const auto step = plan.follow({"a", "d", "e"}); // "b" and "c" are wanted no more
  CHECK(step.what == kind::replace);
  CHECK(step.prefixes == texts{"a", "d", "e"});
  CHECK(plan.owner("d") == 3); // until it is open
  plan.opened();
  CHECK(plan.size() == 1);
  CHECK(plan.owner("d") == 0);
  CHECK_FALSE(plan.owner("b"));
}
