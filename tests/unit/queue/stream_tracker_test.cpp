// SPDX-License-Identifier: BSD-3-Clause
#include "queue/stream_tracker.hpp"

#include <doctest/doctest.h>

using namespace pubsub;

namespace {

const auto publisher = endpoint_id::random();

run_origin at(std::uint64_t sequence, std::uint32_t stream = one_topic_flag | 1,
              const endpoint_id& endpoint = publisher) {
  return {.endpoint = endpoint, .stream = stream, .first_sequence = sequence};
}

} // namespace

TEST_CASE("numbers without a gap are missing nothing, wherever they begin") {
  stream_tracker streams;
  streams.note(at(1000), 5);
  streams.note(at(1005), 1);
  streams.note(at(1006), 100);
  CHECK(streams.missed() == 0);
  CHECK(streams.restarts() == 0);
}

TEST_CASE("the numbers left out are missed, of each stream by itself") {
  stream_tracker streams;
  streams.note(at(0), 10);
  streams.note(at(0, one_topic_flag | 2), 1);
  streams.note(at(0, one_topic_flag | 1, endpoint_id::random()), 1);
  streams.note(at(13), 1); // not 10 11 12
  streams.note(at(5, one_topic_flag | 2), 1);
  CHECK(streams.missed() == 3 + 4);
  CHECK(streams.streams() == 3);
}

TEST_CASE("in a stream of many topics a gap says nothing, a lower number does") {
  stream_tracker streams;
  streams.note(at(0, 7), 1);
  streams.note(at(50, 7), 1);
  CHECK(streams.missed() == 0);
  streams.note(at(3, 7), 1);
  CHECK(streams.restarts() == 1);
}

TEST_CASE("a stream that starts again counts once and goes on from there") {
  stream_tracker streams;
  streams.note(at(0), 100);
  streams.note(at(0), 2);
  streams.note(at(2), 2);
  CHECK(streams.restarts() == 1);
  streams.note(at(5), 1);
  CHECK(streams.missed() == 1);
}

TEST_CASE("after forgetting, every stream begins anew and the counts stay") {
  stream_tracker streams;
  streams.note(at(0), 1);
  streams.note(at(2), 1);
  streams.forget();
  streams.note(at(10), 1);
  streams.note(at(1, one_topic_flag | 2), 1);
  CHECK(streams.missed() == 1);
  CHECK(streams.restarts() == 0);
}

TEST_CASE("of too many streams the one not heard of for longest is forgotten") {
  stream_tracker streams;
  streams.note(at(0, one_topic_flag | 0), 1);
  streams.note(at(0, one_topic_flag | 1), 1);
  for (std::uint32_t i = 2; i < stream_tracker::max_streams; ++i)
    streams.note(at(0, one_topic_flag | i), 1);
  streams.note(at(1, one_topic_flag | 0), 1); // heard of again
  streams.note(at(0, one_topic_flag | 70'000), 1);
  CHECK(streams.streams() == stream_tracker::max_streams);
  streams.note(at(9, one_topic_flag | 0), 1);
  CHECK(streams.missed() == 7);
  streams.note(at(9, one_topic_flag | 1), 1); // gone: begins anew
  CHECK(streams.missed() == 7);
}
