// SPDX-License-Identifier: BSD-3-Clause
#include <doctest/doctest.h>

#include <filesystem>

#include <pubsub/record/ring.hpp>
#include <pubsub/record/summary.hpp>

#include "support/recordings.hpp"
#include "support/temporary_folder.hpp"

using namespace pubsub;
using namespace pubsub::test;

namespace {

record::ring open_ring(record::ring_options options) {
  auto ring = record::ring::open(std::move(options));
  REQUIRE(ring);
  return std::move(*ring);
}

std::vector<data_message> numbered(int first, int last) {
  std::vector<data_message> result;
  for (int i = first; i < last; ++i)
    result.push_back(make_data_message("/a", data{static_cast<std::uint64_t>(i)}));
  return result;
}

} // namespace

TEST_CASE("a ring keeps the newest bytes, and writes them as often as it is asked to") {
  temporary_folder folder;
  record::ring_options options;
  options.chunks.compression_level = 0;
  options.chunks.chunk_bytes = 1024;
  options.max_bytes = 10'000;
  auto ring = open_ring(options);
  REQUIRE(ring.write(numbered(0, 1000), at_second(1)));
  CHECK(ring.bytes() <= 10'000);
  CHECK(ring.bytes() > 8'000);
  const auto saved = ring.save(folder / "a.mcap");
  REQUIRE(saved);
  CHECK(ring.path() == folder / "a-0001.mcap");
  CHECK(saved->messages == ring.messages());
  CHECK(saved->file_bytes == std::filesystem::file_size(ring.path()));
  const auto found = read_all(ring.path());
  CHECK(found.indexed);
  REQUIRE(found.messages.size() == ring.messages());
  const auto oldest = 1000 - found.messages.size();
  CHECK(oldest > 500);
  for (std::size_t i = 0; i < found.messages.size(); ++i)
    CHECK(found.messages[i].sequence == oldest + i);

  REQUIRE(ring.write(numbered(1000, 1001), at_second(2)));
  const auto again = ring.save(folder / "a.mcap");
  REQUIRE(again);
  CHECK(ring.path() == folder / "a-0002.mcap");
  CHECK(read_all(ring.path()).messages.back().sequence == 1000);
}

TEST_CASE("a ring keeps the newest seconds, with the gaps in them") {
  temporary_folder folder;
  record::ring_options options;
  options.chunks.chunk_time = std::chrono::milliseconds{100};
  options.max_time = std::chrono::seconds{10};
  auto ring = open_ring(options);
  for (int i = 0; i < 1000; ++i) {
    if (i == 995)
      ring.note({.missed = 7}, at_second(99.5));
    REQUIRE(ring.write(numbered(i, i + 1), at_second(i / 10.0)));
  }
  REQUIRE(ring.save(folder / "a.mcap"));
  const auto summary = record::summarize(ring.path());
  REQUIRE(summary);
  CHECK(summary->messages >= 100);
  CHECK(summary->messages <= 103);
  CHECK(summary->last == at_second(99.9));
  REQUIRE(summary->gaps.size() == 1);
  CHECK(summary->gaps[0].missing.missed == 7);
}

TEST_CASE("a ring with nothing in it writes no file, and one without bounds is refused") {
  temporary_folder folder;
  record::ring_options options;
  CHECK(record::ring::open(options).error() == errc::invalid_argument);
  options.max_bytes = 1000;
  auto ring = open_ring(options);
  const auto saved = ring.save(folder / "a.mcap");
  REQUIRE(saved);
  CHECK(saved->files == 0);
  CHECK(ring.path().empty());
}

TEST_CASE("a file that a ring writes says what it is told to, beside what all of them say") {
  temporary_folder folder;
  record::ring_options options;
  options.max_bytes = 10'000;
  options.chunks.about = {{"recorder", "here"}, {"why", "always"}};
  auto ring = open_ring(options);
  REQUIRE(ring.write(numbered(0, 1), at_second(1)));
  const auto said = [&] {
    const auto found = record::summarize(ring.path());
    REQUIRE(found);
    return found->about;
  };
  REQUIRE(ring.save(folder / "a.mcap", {{"why", "now"}, {"who", "somebody"}}));
  CHECK(said() ==
        decltype(options.chunks.about){{"recorder", "here"}, {"why", "now"}, {"who", "somebody"}});
  REQUIRE(ring.save(folder / "a.mcap"));
  CHECK(said() == options.chunks.about);
}
