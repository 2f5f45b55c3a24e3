// SPDX-License-Identifier: BSD-3-Clause
#include "link/gathered_write.hpp"

#include "support/hex.hpp"

#include <doctest/doctest.h>

using namespace pubsub;
using namespace pubsub::test;

namespace {

/// A slice of so many messages of one outbox, whose bytes on the wire are the frames appended.
void add(gathered_write& to, std::size_t hops, std::uint32_t messages,
         const std::vector<buffer>& frames) {
  auto& slice = to.slices.emplace_back(outgoing_slice{.slice = {}, .hops = hops, .bytes = 0});
  slice.slice.size = {messages, 10U * messages};
  for (const auto& each : frames)
    slice.bytes += to.append(each);
}

buffer bytes_of(std::span<const asio::const_buffer> parts) {
  buffer result;
  for (const auto& each : parts) {
    const auto* const data = static_cast<const std::byte*>(each.data());
    result.insert(result.end(), data, data + each.size());
  }
  return result;
}

} // namespace

TEST_CASE(
    "whatever parts it is written in, every message is told of once, and nothing comes twice") {
  const auto whole = from_hex("01 0203 040506 07 0809");
  using told = std::vector<std::pair<std::size_t, run_position>>;
  for (std::size_t step = 1; step <= whole.size(); ++step) {
    gathered_write write;
    add(write, 3, 2, {from_hex("01"), from_hex("0203")});
    add(write, 3, 1, {from_hex("040506")});
    add(write, 0, 0, {from_hex("07")}); // a control frame
    add(write, 5, 4, {from_hex("0809")});
    told all;
    std::size_t written = 0;
    while (!write.empty()) {
      const std::span rest{whole.data() + written, whole.size() - written};
      CHECK(std::ranges::equal(bytes_of(write.rest()), rest));
      const auto now = std::min(step, rest.size());
      write.advance(now, [&](std::size_t hops, run_position size) {
        if (all.empty() || all.back().first != hops)
          all.push_back({hops, {}});
        all.back().second.messages += size.messages;
        all.back().second.bytes += size.bytes;
      });
      written += now;
    }
    CHECK(written == whole.size());
    REQUIRE(all.size() == 2);
    CHECK(all[0].first == 3);
    CHECK(all[0].second.messages == 3);
    CHECK(all[0].second.bytes == 30);
    CHECK(all[1].first == 5);
    CHECK(all[1].second.messages == 4);
    write.clear();
    CHECK(write.rest().empty());
  }
}

TEST_CASE("a write that failed in the middle is forgotten, and the next one begins anew") {
  gathered_write write;
  add(write, 0, 1, {from_hex("0102")});
  add(write, 0, 1, {from_hex("0304")});
  write.advance(1, [](std::size_t, run_position) { FAIL("no message has gone out whole"); });
  write.clear();
  CHECK(write.empty());
  add(write, 0, 1, {from_hex("05")});
  CHECK(bytes_of(write.rest()) == from_hex("05"));
}

TEST_CASE("a thread keeps one write for the next link, with its memory, and no second") {
  auto first = spare_write::take();
  auto second = spare_write::take();
  auto* const kept = second.get();
  CHECK(first.get() != kept);
  second->append(from_hex("0102"));
  const auto* const memory = second->buffers[0].data();
  second->clear();
  spare_write::keep(std::move(first));
  spare_write::keep(std::move(second));
  const auto again = spare_write::take();
  CHECK(again.get() == kept);
  again->append(from_hex("03"));
  CHECK(again->buffers[0].data() == memory);
  CHECK(spare_write::take().get() != kept);
}
