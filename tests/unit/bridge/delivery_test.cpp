// SPDX-License-Identifier: BSD-3-Clause
#include "bridge/jetstream/delivery.hpp"

#include <doctest/doctest.h>

using namespace pubsub::bridge;

TEST_CASE("both forms of the subject of an acknowledgement are read") {
  for (const auto* text : {"$JS.ACK.S.C.2.10.20.1764291600000000000.7",
                           "$JS.ACK.hub.ACCOUNT.S.C.2.10.20.1764291600000000000.7",
                           "$JS.ACK._.ACCOUNT.S.C.2.10.20.1764291600000000000.7.token"}) {
    CAPTURE(text);
    const auto read = parse_delivery(text);
    REQUIRE(read);
    CHECK(read->times == 2);
    CHECK(read->stream_sequence == 10);
    CHECK(read->consumer_sequence == 20);
    CHECK(read->pending == 7);
  }
}

TEST_CASE("what is no subject of an acknowledgement is none") {
  for (const auto* text : {"", "$JS.ACK", "$JS.ACK.S.C.2.10.20.30", "$JS.ACK.S.C.x.10.20.30.7",
                           "$JS.ACK.S.C.2..20.30.7", "$JS.ACK.S.C.2.10.20.30.-7",
                           "$JS.NAK.S.C.2.10.20.30.7", "$JS.ACK.S.C.2.10.20.30.7.8",
                           "$JS.ACK.S.C.2.10.20.30.99999999999999999999", "................"})
    CHECK_FALSE(parse_delivery(text));
}
