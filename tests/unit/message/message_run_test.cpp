// SPDX-License-Identifier: BSD-3-Clause
#include "message/message_run.hpp"
#include "message/record.hpp"

#include "support/slices.hpp"

#include <doctest/doctest.h>

#include <thread>

using namespace pubsub;
using namespace pubsub::test;
using outcome = message_run::outcome;

namespace {

/// A run of records that grows in a slab.
struct growing {
  growing() {
    topics->add("/t");
    source.owner = block.current();
    source.first = first;
    source.topics = topics.get();
    run = message_run::of_records(source);
  }
  outcome append(std::uint64_t number) {
    const auto payload = encoded(count{number});
    const auto size = record_header_bytes + payload.size();
    auto* at =
        write_record_header(block.reserve(size), static_cast<std::uint32_t>(payload.size()), 0);
    std::ranges::copy(payload, at);
    block.commit(size);
    return run->append(end, size);
  }

  slab block;
  std::byte* first = block.reserve(1);
  intrusive_ptr<topic_table> topics = topic_table::make(1);
  record_source source;
  intrusive_ptr<message_run> run;
  run_position end; // as its writer knows it
};

} // namespace

TEST_CASE("a run grows frame by frame and ends for good") {
  growing g;
  CHECK(g.run->now().end.messages == 0);
  CHECK(g.append(0) == outcome::appended);
  CHECK(g.append(1) == outcome::appended);
  CHECK(g.run->now().end.messages == 2);
  CHECK(g.run->now().end.bytes == g.run->bytes_of({}, 2));
  CHECK_FALSE(g.run->now().closed);
  g.run->close();
  CHECK(g.append(2) == outcome::closed);
  CHECK(g.run->now().end.messages == 2);
  CHECK(g.run->now().closed);
}

TEST_CASE("a writer knows the end of its run, whoever watches or closes it") {
  growing g;
  const auto knows = [&] {
    const auto now = g.run->now().end;
    return g.end.messages == now.messages && g.end.bytes == now.bytes;
  };
  CHECK(g.append(0) == outcome::appended);
  CHECK(knows());
  CHECK(g.run->watch(g.end.bytes));
  CHECK(g.append(1) == outcome::watched);
  CHECK(knows());
  g.run->close();
  CHECK(g.append(2) == outcome::closed);
  CHECK(knows());
  CHECK(g.end.messages == 2);
}

TEST_CASE("a run goes on only with the same memory, topics and sequence") {
  growing g;
  g.append(0);
  auto next = g.source;
  next.first = g.block.reserve(0);
  next.origin.first_sequence = 1;
  CHECK(g.run->continues_with(next));
  for (int what = 0; what < 3; ++what) {
    auto other = next;
    const auto other_topics = topic_table::make(1);
    if (what == 0)
      ++other.first;
    else if (what == 1)
      other.topics = other_topics.get();
    else
      other.origin.first_sequence = 2; // one was published elsewhere in between
    CHECK_FALSE(g.run->continues_with(other));
  }
}

TEST_CASE("who watches a run is announced by the next message, once") {
  growing g;
  CHECK(g.run->watch(0));
  CHECK(g.append(0) == outcome::watched);
  CHECK(g.append(1) == outcome::appended);
  CHECK_FALSE(g.run->watch(0)); // there is more than that
  const auto seen = g.run->now().end;
  CHECK(g.run->watch(seen.bytes));
  CHECK(g.run->now().end.bytes == seen.bytes); // the watch does not change what there is
  g.run->close();
  CHECK(g.run->watch(seen.bytes)); // nothing will follow
}

TEST_CASE("handles are read by moving where one queue reads, by copying where several do") {
  for (const bool shared : {false, true}) {
    auto run = message_run::of_handles(2);
    if (shared)
      run->set_shared();
    for (std::uint64_t i = 0; i < 2; ++i) {
      auto msg = make_data_message("/t", count{i});
      CHECK_FALSE(run->full());
      CHECK(run->append(msg, 10) == outcome::appended);
      CHECK_FALSE(msg);
    }
    CHECK(run->full());
    std::vector<data_message> out;
    run->read({}, 2, out);
    CHECK(get_data(out[1]) == data{count{1}});
    if (shared) {
      run->read({1, 10}, 1, out);
      CHECK(&get_data(out[2]) == &get_data(out[1]));
    }
  }
}

TEST_CASE("a handle that finds its run closed stays with the caller") {
  auto run = message_run::of_handles(4);
  run->close();
  auto msg = make_data_message("/t", count{7});
  CHECK(run->append(msg, 10) == outcome::closed);
  REQUIRE(msg);
  CHECK(get_data(msg) == data{count{7}});
}

TEST_CASE("a reader that follows a growing run sees whole messages in order") {
  growing g;
  constexpr std::uint64_t messages = 500;
  std::thread reader{[&] {
    run_position at;
    std::uint64_t expected = 0;
    bool right = true;
    while (expected < messages) {
      const auto end = g.run->now().end;
      std::vector<data_message> out;
      g.run->read(at, end.messages - at.messages, out);
      at = end;
      for (const auto& each : out)
        right = get_data(each) == data{count{expected++}} && right;
    }
    CHECK(right);
  }};
  for (std::uint64_t i = 0; i < messages; ++i)
    CHECK(g.append(i) != outcome::closed);
  reader.join();
}
