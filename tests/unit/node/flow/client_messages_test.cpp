// Whose a relay takes the messages of its clients for, over whichever relay they come.
// SPDX-License-Identifier: BSD-3-Clause
#include "support/fake_node.hpp"

#include <doctest/doctest.h>

using namespace pubsub;
using namespace pubsub::test;

TEST_CASE("while the link of a client begins, what comes over another relay stays the client's") {
  fake_node node;
  const auto queue = node.subscribe({"/a"});
  fake_peer other{node, id_of(1), 2, {}};
  const auto passes_on = [&](std::int64_t value, std::uint64_t sequence, std::uint16_t table) {
    other.announce_topics({"/a"}, {node.self}, table);
    other.send(wire::make_entry({table, id_of(1)}));
    other.send_record(value, sequence, id_of(9), 16, table);
  };
  constexpr bool says_links = true, as_client = true;
  fake_peer client{node, id_of(9), 2, {}, says_links, as_client};
  CHECK_FALSE(client.is_peered()); // not before it has told all it has to tell
  SUBCASE("which then names that relay") {
    passes_on(5, 1, 0);
    client.send(wire::make_relays({node.self, id_of(1)}));
    client.send(wire::make_known());
    client.announce_topics({"/a"}, {node.self});
    client.send_record(5, 1, id_of(9)); // it was served by both
    client.send_record(6, 2, id_of(9));
    passes_on(6, 2, 1);
    CHECK(texts_in(*queue) == std::vector<std::string>{"/a=5", "/a=6"});
    CHECK(node.counts.sum().duplicates == 2);
  }
  SUBCASE("and no longer, where it names none") {
    client.send(wire::make_known());
    passes_on(0, max_number, 0);
    client.announce_topics({"/a"}, {node.self});
    client.send_record(5, 1, id_of(9));
    CHECK(texts_in(*queue) == std::vector<std::string>{"/a=0", "/a=5"});
    CHECK(node.counts.sum().duplicates == 0);
  }
}
