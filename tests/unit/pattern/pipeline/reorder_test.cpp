#include "pattern/pipeline/task_inbox.hpp"

#include <doctest/doctest.h>

#include <deque>
#include <utility>

using namespace pubsub;
using namespace pubsub::pattern;

namespace {

const endpoint_id source;

struct fixture {
  std::deque<int> ready;
  reorder<int> all{ready};

  std::deque<int> take_all() { return std::exchange(ready, {}); }
};

} // namespace

TEST_CASE("what comes early waits for what is before it") {
  fixture x;
  x.all.settle(source, 0);
  x.all.put(source, 2, 2);
  x.all.put(source, 1, 1);
  CHECK(x.ready.empty());
  x.all.put(source, 0, 0);
  CHECK(x.take_all() == std::deque{0, 1, 2});
}

TEST_CASE("nothing is given out before it is known where a source begins") {
  fixture x;
  x.all.put(source, 6, 6);
  x.all.put(source, 5, 5);
  CHECK(x.ready.empty());
  x.all.settle(source, 5);
  CHECK(x.take_all() == std::deque{5, 6});
}

TEST_CASE("what will never come is not waited for") {
  fixture x;
  x.all.settle(source, 0);
  x.all.put(source, 3, 3);
  x.all.put(source, 5, 5);
  x.all.settle(source, 2);
  CHECK(x.ready.empty());
  x.all.settle(source, 3);
  CHECK(x.take_all() == std::deque{3});
  x.all.settle(source, 100);
  CHECK(x.take_all() == std::deque{5});
}

TEST_CASE("what comes again is given out at once") {
  fixture x;
  x.all.settle(source, 0);
  x.all.put(source, 0, 0);
  x.all.put(source, 2, 2);
  x.all.put(source, 2, 22);
  x.all.put(source, 0, 10);
  CHECK(x.take_all() == std::deque{0, 22, 10});
}

TEST_CASE("sources do not wait for one another") {
  const auto other = endpoint_id::random();
  fixture x;
  x.all.settle(source, 0);
  x.all.settle(other, 0);
  x.all.put(source, 1, 1);
  x.all.put(other, 0, 10);
  CHECK(x.take_all() == std::deque{10});
}
