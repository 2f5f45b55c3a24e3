#include "pattern/pipeline/reorder.hpp"

#include <doctest/doctest.h>

#include <vector>

using namespace pubsub;
using namespace pubsub::pattern;

namespace {

const endpoint_id source;

std::vector<int> take_all(reorder<int>& from) {
  std::vector<int> result;
  while (auto next = from.take())
    result.push_back(*next);
  return result;
}

} // namespace

TEST_CASE("what comes early waits for what is before it") {
  reorder<int> all;
  all.settle(source, 0);
  all.put(source, 2, 2);
  all.put(source, 1, 1);
  CHECK(all.empty());
  CHECK(all.waiting() == 2);
  all.put(source, 0, 0);
  CHECK(take_all(all) == std::vector{0, 1, 2});
  CHECK(all.waiting() == 0);
}

TEST_CASE("nothing is given out before it is known where a source begins") {
  reorder<int> all;
  all.put(source, 6, 6);
  all.put(source, 5, 5);
  CHECK(all.empty());
  all.settle(source, 5);
  CHECK(take_all(all) == std::vector{5, 6});
}

TEST_CASE("what will never come is not waited for") {
  reorder<int> all;
  all.settle(source, 0);
  all.put(source, 3, 3);
  all.put(source, 5, 5);
  all.settle(source, 2);
  CHECK(all.empty());
  all.settle(source, 3);
  CHECK(take_all(all) == std::vector{3});
  all.settle(source, 100);
  CHECK(take_all(all) == std::vector{5});
}

TEST_CASE("what comes again is given out at once") {
  reorder<int> all;
  all.settle(source, 0);
  all.put(source, 0, 0);
  all.put(source, 2, 2);
  all.put(source, 2, 22);
  all.put(source, 0, 10);
  CHECK(take_all(all) == std::vector{0, 22, 10});
  CHECK(all.waiting() == 1);
}

TEST_CASE("sources do not wait for one another") {
  const auto other = endpoint_id::random();
  reorder<int> all;
  all.settle(source, 0);
  all.settle(other, 0);
  all.put(source, 1, 1);
  all.put(other, 0, 10);
  CHECK(take_all(all) == std::vector{10});
}
