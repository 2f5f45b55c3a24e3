// SPDX-License-Identifier: BSD-3-Clause
#include <pubsub/topic.hpp>

#include <doctest/doctest.h>

using namespace pubsub;

TEST_CASE("topics match by bytes, not by levels") {
  CHECK(topic{"/foo"}.prefix_of("/foobar"));
  CHECK(topic{"/foo"}.prefix_of("/foo/bar"));
  CHECK(topic{"/foo"}.prefix_of("/foo"));
  CHECK(topic{""}.prefix_of("anything"));
  CHECK(topic{""}.prefix_of(""));
  CHECK_FALSE(topic{"/foo/"}.prefix_of("/foo"));
  CHECK_FALSE(topic{"/foo"}.prefix_of("/fo"));
}

TEST_CASE("joining puts exactly one slash between two parts and strips the last") {
  CHECK((topic{"a"} / "b").string() == "a/b");
  CHECK((topic{"a/"} / "b").string() == "a/b");
  CHECK((topic{"a"} / "/b").string() == "a/b");
  CHECK((topic{"a/"} / "/b").string() == "a/b");
  CHECK((topic{"a"} / "b/").string() == "a/b");
  CHECK((topic{"/"} / "a" / "b").string() == "/a/b");
}

TEST_CASE("topics with the internal marker are reserved wherever it stands") {
  CHECK(is_reserved_topic("<$>"));
  CHECK(is_reserved_topic("<$>/local/data/errors"));
  CHECK(is_reserved_topic("store/<$>/data/master"));
  CHECK_FALSE(is_reserved_topic("<$"));
  CHECK_FALSE(is_reserved_topic("/zeek/<x>"));
}
