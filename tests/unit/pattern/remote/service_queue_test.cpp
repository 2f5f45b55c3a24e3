// SPDX-License-Identifier: BSD-3-Clause
#include "pattern/remote/service_queue.hpp"

#include "support/ids.hpp"

#include <doctest/doctest.h>

#include <set>

using namespace pubsub;
using namespace pubsub::pattern;
using namespace pubsub::test;

namespace {

service_work work_of(std::uint8_t client, std::uint64_t first, std::size_t count,
                     std::uint64_t stream = 1) {
  service_work result;
  result.client = id_of(client);
  result.stream = stream;
  result.first = first;
  result.count = count;
  return result;
}

constexpr std::size_t no_limit = 1'000'000;

} // namespace

TEST_CASE("clients of a service have their turns one after the other") {
  service_queue queue{1, no_limit};
  for (std::uint64_t i = 0; i < 3; ++i)
    CHECK(queue.add(work_of(1, i, 1)).has_value());
  CHECK(queue.add(work_of(2, 0, 1)).has_value());
  std::vector<endpoint_id> order;
  while (!queue.empty())
    order.push_back(queue.take().client);
  CHECK(order == std::vector{id_of(1), id_of(2), id_of(1), id_of(1)});
}

TEST_CASE("what is put back goes on at the client's next turn, and before its other work") {
  service_queue queue{1, no_limit};
  queue.add(work_of(1, 0, 10));
  queue.add(work_of(1, 10, 1));
  queue.add(work_of(2, 0, 1));
  auto one = queue.take();
  one.first += 4;
  one.count -= 4;
  queue.put_back(one);
  CHECK(queue.take().client == id_of(2));
  const auto rest = queue.take();
  CHECK(rest.first == 4);
  CHECK(rest.count == 6);
  CHECK(queue.take().first == 10);
}

TEST_CASE("places that come again are not taken, those left out are told") {
  service_queue queue{1, no_limit};
  CHECK(queue.add(work_of(1, 0, 5)).has_value());
  CHECK_FALSE(queue.add(work_of(1, 0, 5)).has_value());
  CHECK_FALSE(queue.add(work_of(1, 4, 1)).has_value());
  const auto later = queue.add(work_of(1, 8, 2));
  REQUIRE(later);
  CHECK(later->first == 5);
  CHECK(later->count == 3);
  CHECK_FALSE(queue.add(work_of(1, 5, 3)).has_value());
  SUBCASE("a new stream begins anew") {
    CHECK(queue.add(work_of(1, 0, 1, 2)).has_value());
    CHECK_FALSE(queue.add(work_of(1, 10, 1, 1)).has_value());
  }
}

TEST_CASE("operations are cancelled until they are handed out, and those put back still are") {
  service_queue queue{1, no_limit};
  queue.add(work_of(1, 0, 8));
  for (const std::uint64_t place : {2, 3, 7, 8, 11})
    queue.cancel({id_of(1), 1, place});
  queue.cancel({id_of(1), 2, 4});
  queue.cancel({id_of(2), 1, 4});
  auto all = queue.take();
  CHECK(all.cancelled == std::vector<std::uint64_t>{2, 3, 7});
  all.first += 3;
  all.count -= 3;
  queue.put_back(all);
  CHECK(queue.take().cancelled == std::vector<std::uint64_t>{3, 7});
}

TEST_CASE("what is cancelled while its request is being done is not begun") {
  service_queue queue{1, no_limit};
  queue.add(work_of(1, 0, 8));
  auto all = queue.take();
  for (const std::uint64_t place : {1, 5, 6}) // 1 is done already, as far as the worker knows
    queue.cancel({id_of(1), 1, place});
  queue.cancel({id_of(1), 2, 4}); // of another stream
  all.first += 3;
  all.count -= 3;
  queue.put_back(all);
  all = queue.take();
  CHECK(all.cancelled == std::vector<std::uint64_t>{5, 6});
  all.first += 5;
  all.count = 0;
  queue.put_back(all);
  CHECK(queue.empty());
  queue.cancel({id_of(1), 1, 7}); // too late, and forgotten
  queue.add(work_of(1, 8, 1));
  CHECK(queue.take().cancelled.empty());
}

TEST_CASE("a request is split among workers, and nothing of it is lost") {
  for (const std::size_t count : {1, 3, 7, 8, 1000}) {
    service_queue queue{3, no_limit};
    data_writer out;
    out.begin_vector(count);
    for (std::size_t i = 0; i < count; ++i)
      out.write_count(i);
    const auto arguments = *data_view::make(out.bytes());
    auto work = work_of(1, 5, count);
    work.arguments = arguments.elements().begin();
    queue.add(work);
    std::size_t parts = 0, done = 0;
    for (; !queue.empty(); ++parts) {
      const auto part = queue.take();
      CHECK(part.first == 5 + done);
      CHECK((*part.arguments).as_count() == done);
      done += part.count;
    }
    CHECK(done == count);
    CHECK(parts ==
          std::min<std::size_t>(count, (count + (count + 11) / 12 - 1) / ((count + 11) / 12)));
  }
}

TEST_CASE("who does not read is held back, and does not fill the queue for others") {
  service_queue queue{1, 10};
  queue.add(work_of(1, 0, 20));
  CHECK(queue.full());
  queue.hold_back(id_of(1));
  CHECK_FALSE(queue.full());
  CHECK(queue.empty());
  queue.add(work_of(1, 20, 20));
  CHECK_FALSE(queue.full());
  queue.add(work_of(2, 0, 1));
  CHECK(queue.take().client == id_of(2));
  CHECK(queue.empty());
  SUBCASE("until it does") {
    queue.go_on(id_of(1));
    CHECK(queue.full());
    CHECK(queue.take().count == 20);
    CHECK(queue.take().first == 20);
  }
  SUBCASE("or is forgotten") {
    queue.forget(id_of(1));
    queue.go_on(id_of(1));
    CHECK(queue.empty());
    CHECK(queue.clear().size() == 1); // what has not come of the other client
  }
  SUBCASE("and gets back what has not begun") {
    CHECK(queue.clear().size() == 4); // and what has not come of both clients
    CHECK(queue.empty());
  }
}

TEST_CASE("what has not come of a client's stream is given back as well") {
  service_queue queue{1, no_limit};
  queue.add(work_of(1, 0, 5));
  queue.take();
  queue.add(work_of(2, 3, 1, 7));
  queue.take();
  const auto parts = queue.clear();
  REQUIRE(parts.size() == 2);
  for (const auto& each : parts) {
    const bool first = each.client == id_of(1);
    CHECK(each.stream == (first ? 1 : 7));
    CHECK(each.first == (first ? 5 : 4));
    CHECK(each.count > 1'000'000'000);
  }
}
