// Names of endpoints, where others choose them.
// SPDX-License-Identifier: BSD-3-Clause
#include <pubsub/value/endpoint_id.hpp>

#include <algorithm>
#include <cstring>
#include <unordered_set>

#include <doctest/doctest.h>

using namespace pubsub;

namespace {

constexpr std::size_t ids = 20'000;

endpoint_id id_of_words(std::uint64_t first, std::uint64_t second) {
  const std::uint64_t words[] = {first, second};
  endpoint_id::bytes_type bytes;
  std::memcpy(bytes.data(), words, sizeof words);
  return endpoint_id{bytes};
}

constexpr std::uint64_t inverse(std::uint64_t odd) {
  auto result = odd;
  for (int i = 0; i < 6; ++i)
    result *= 2 - odd * result;
  return result;
}

std::size_t most_in_one_bucket(const std::unordered_set<endpoint_id>& all) {
  std::size_t result = 0;
  for (std::size_t i = 0; i < all.bucket_count(); ++i)
    result = std::max(result, all.bucket_size(i));
  return result;
}

} // namespace

TEST_CASE("ids of one who knows how they are hashed do not fall into one bucket") {
  constexpr std::uint64_t factor = 0x9e37'79b9'7f4a'7c15;
  static_assert(factor * inverse(factor) == 1);
  std::unordered_set<endpoint_id> of_mixing; // had one hash, when there was no secret
  std::unordered_set<endpoint_id> of_sum;    // have one, if the keys are 1 and this factor
  for (std::uint64_t i = 0; i < ids; ++i) {
    const auto second = i * 2'654'435'761;
    const auto mixed = second ^ (second >> 32U);
    of_mixing.insert(id_of_words((mixed * inverse(factor)) ^ (second >> 29U), second));
    of_sum.insert(id_of_words(42 - second * factor, second));
  }
  REQUIRE(of_mixing.size() == ids);
  CHECK(most_in_one_bucket(of_mixing) < 50);
  REQUIRE(of_sum.size() == ids);
  CHECK(most_in_one_bucket(of_sum) < 50);
}

TEST_CASE("ids that differ in few bits are spread over a table") {
  std::unordered_set<endpoint_id> in_first;
  std::unordered_set<endpoint_id> in_second;
  for (std::uint64_t i = 0; i < ids; ++i) {
    in_first.insert(id_of_words(i, 7));
    in_second.insert(id_of_words(7, i << 48U));
  }
  CHECK(most_in_one_bucket(in_first) < 50);
  CHECK(most_in_one_bucket(in_second) < 50);
}
