// SPDX-License-Identifier: BSD-3-Clause
#include <pubsub/error.hpp>

#include <doctest/doctest.h>

#include <set>

using namespace pubsub;

TEST_CASE("every number Broker may send has its name") {
  CHECK(to_string(errc::none) == "none");
  CHECK(to_string(errc::peer_disconnect_during_handshake) == "peer_disconnect_during_handshake");
  CHECK(to_string(static_cast<errc>(7)) == "master_exists");
  CHECK(to_string(static_cast<errc>(24)) == "connection_timeout");
  CHECK(to_string(static_cast<errc>(35)) == "cannot_open_resource");
  CHECK(to_string(errc::redundant_connection) == "redundant_connection");
  CHECK(to_string(errc::invalid_json) == "invalid_json");
  std::set<std::string_view> names;
  for (int i = 0; i <= 41; ++i)
    names.insert(to_string(static_cast<errc>(i)));
  CHECK(names.size() == 42);
  CHECK(names.count("unknown") == 0);
}

TEST_CASE("our own codes have names and numbers between the two ranges are unknown") {
  CHECK(to_string(errc::invalid_argument) == "invalid_argument");
  CHECK(to_string(errc::not_supported) == "not_supported");
  CHECK(to_string(errc::denied) == "denied");
  CHECK(to_string(static_cast<errc>(42)) == "unknown");
  CHECK(to_string(static_cast<errc>(63)) == "unknown");
  CHECK(to_string(static_cast<errc>(77)) == "unknown");
  CHECK(to_string(static_cast<errc>(255)) == "unknown");
}

TEST_CASE("every code is described by a sentence") {
  for (int i = 0; i < 256; ++i) {
    const auto text = describe(static_cast<errc>(i));
    CHECK(text.size() > 5);
    CHECK(text.back() == '.');
  }
}

TEST_CASE("a message shows the context where there is one and the description otherwise") {
  CHECK(error{errc::invalid_json, "line 3"}.message() == "invalid_json: line 3");
  CHECK(error{errc::invalid_json}.message() == describe(errc::invalid_json));
  CHECK_FALSE(static_cast<bool>(error{}));
  CHECK(static_cast<bool>(error{errc::unspecified}));
}

TEST_CASE("an expected holds a value or an error") {
  const expected<int> good{7};
  const expected<int> bad{errc::type_clash};
  CHECK(good);
  CHECK(*good == 7);
  CHECK_FALSE(bad);
  CHECK(bad.error() == errc::type_clash);
  CHECK(bad.value_or(3) == 3);
  CHECK(expected<void>{});
  CHECK_FALSE(expected<void>{errc::type_clash});
}
