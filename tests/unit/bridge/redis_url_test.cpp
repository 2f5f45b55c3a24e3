// SPDX-License-Identifier: BSD-3-Clause
#include "bridge/redis/redis_url.hpp"

#include <doctest/doctest.h>

using namespace pubsub::bridge;

TEST_CASE("the parts of a Redis URL are found") {
  auto url = parse_redis_url("redis://h");
  REQUIRE(url);
  CHECK(url->host == "h");
  CHECK(url->port == 6379);
  CHECK(url->password.empty());
  url = parse_redis_url("redis://us%65r:p%40ss:w@[::1]:7000/12");
  REQUIRE(url);
  CHECK(url->user == "user");
  CHECK(url->password == "p@ss:w");
  CHECK(url->host == "::1");
  CHECK(url->port == 7000);
  CHECK(url->database == 12);
  CHECK(url->shown().find("p@ss") == std::string::npos);
  url = parse_redis_url("redis://:p@h:1/");
  REQUIRE(url);
  CHECK(url->user.empty());
  CHECK(url->password == "p");
  url = parse_redis_url("unix:///run/redis.sock");
  REQUIRE(url);
  CHECK(url->path == "/run/redis.sock");
}
