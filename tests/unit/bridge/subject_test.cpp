// SPDX-License-Identifier: BSD-3-Clause
#include "bridge/jetstream/subject.hpp"

#include <doctest/doctest.h>

using namespace pubsub::bridge;

TEST_CASE("topics become subjects that NATS takes") {
  CHECK(to_subject("zeek/logs/conn") == "zeek.logs.conn");
  CHECK(to_subject("/zeek//conn/") == "zeek.conn");
  CHECK(to_subject("a b/*/>") == "a_b._._");
  CHECK(to_subject("$JS/API/x") == "_JS.API.x");
  CHECK(to_subject("a$b") == "a$b");
  CHECK(to_subject(std::string_view{"a\0\r\nb", 5}) == "a___b");
  CHECK(to_subject("caf\xC3\xA9") == "caf\xC3\xA9");
  CHECK(to_subject("///").empty());
  CHECK(to_subject("").empty());
  CHECK(to_subject(std::string(5000, 'a')).empty());
}

TEST_CASE("a name that was made a subject is one") {
  for (const auto* name : {"zeek/logs/conn", "/a//b/", "$SYS/x", "a b", ">", "*", "..a.."}) {
    CAPTURE(name);
    CHECK(is_subject(to_subject(name)));
    CHECK(to_subject(to_subject(name)) == to_subject(name));
  }
}

TEST_CASE("wildcards are allowed in filters only, as whole parts") {
  CHECK(is_filter("zeek.>"));
  CHECK(is_filter("*.conn"));
  CHECK_FALSE(is_filter("zeek.>.conn"));
  CHECK_FALSE(is_filter("ze*"));
  CHECK_FALSE(is_filter(""));
  CHECK_FALSE(is_subject("zeek.>"));
  CHECK_FALSE(is_subject("a..b"));
  CHECK_FALSE(is_subject(".a"));
  CHECK_FALSE(is_subject("a."));
  CHECK_FALSE(is_subject("$JS.API.STREAM.NAMES"));
}

TEST_CASE("names of streams and consumers have no dots") {
  CHECK(is_asset_name("ZEEK"));
  for (const auto* name : {"", "a.b", "a b", "a*", ">", "a/b", "a\\b"})
    CHECK_FALSE(is_asset_name(name));
}
