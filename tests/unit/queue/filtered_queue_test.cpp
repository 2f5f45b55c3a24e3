// Queues of subscribers with a condition: what enters, what is counted, whose memory is kept.
// SPDX-License-Identifier: BSD-3-Clause
#include "queue/message_queue.hpp"

#include "support/bounded_queues.hpp"

#include <pubsub/binary.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <thread>

using namespace pubsub;
using namespace pubsub::test;

namespace {

class filtered_queue {
public:
  explicit filtered_queue(std::string_view where, const queue_options& options = {})
      : queue_(options, {.loop = nullptr,
                         .on_overflow = {},
                         .selector = std::make_unique<message_selector>(*condition::make(where))}) {
  }

  message_queue& operator*() { return queue_; }
  message_queue* operator->() { return &queue_; }
  std::vector<std::uint64_t> pull_all() {
    std::vector<data_message> out;
    queue_.pull(out, 1'000'000, immediately());
    std::vector<std::uint64_t> numbers;
    for (const auto& each : out)
      numbers.push_back(*get_data(each).get_if<count>());
    return numbers;
  }
  bool adds_up() const {
    const auto c = queue_.counters();
    return c.offered == c.delivered + c.dropped() + c.filtered + c.queued;
  }

private:
  message_queue queue_;
};

/// A finished run of records that carry these numbers as counts, as a link delivers it.
intrusive_ptr<message_run> run_of(const std::vector<std::uint64_t>& numbers) {
  const auto bytes = encode_binary(data{count{0}})->size() + record_header_bytes;
  auto memory = chunk::make(bytes * numbers.size());
  auto* pos = memory->data();
  for (const auto each : numbers) {
    const auto value = *encode_binary(data{count{each}});
    pos = write_record_header(pos, static_cast<std::uint32_t>(value.size()), 0);
    pos = std::ranges::copy(value, pos).out;
  }
  record_source source;
  source.owner = memory.get();
  source.first = memory->data();
  source.topics = outbox_under_test::all_topics();
  source.origin.endpoint = endpoint_id::random();
  source.origin.stream = one_topic_flag;
  source.origin.first_sequence = numbers.front();
  return message_run::of_records(
      source, {static_cast<std::uint32_t>(numbers.size()), bytes * numbers.size()});
}

std::vector<std::uint64_t> numbers_to(std::uint64_t end) {
  std::vector<std::uint64_t> result(end);
  for (std::uint64_t i = 0; i < end; ++i)
    result[i] = i;
  return result;
}

} // namespace

TEST_CASE("of a run only what fulfils the condition enters, the rest is counted as filtered") {
  filtered_queue queue{"$ in {0, 3..5, 9}"};
  queue->push_run(run_of(numbers_to(10)), {});
  const auto before = queue->counters();
  CHECK(before.offered == 10);
  CHECK(before.queued == 5);
  CHECK(before.filtered == 5);
  CHECK(before.dropped() == 0);
  CHECK(queue.pull_all() == std::vector<std::uint64_t>{0, 3, 4, 5, 9});
  CHECK(queue->counters().delivered == 5);
  CHECK(queue->counters().missed == 0);
  CHECK(queue.adds_up());
}

TEST_CASE("publishers of built messages and of records pass the condition one by one") {
  filtered_queue queue{"$ > 5"};
  bounded_queue* const exits[] = {&*queue};
  run_writer writer;
  for (std::uint64_t i = 0; i < 10; ++i) {
    auto msg = make_data_message("/t", data{count{i}});
    CHECK(writer.push(exits, msg, 10, {}) == push_result::taken);
  }
  CHECK(queue.pull_all() == std::vector<std::uint64_t>{6, 7, 8, 9});
  CHECK(queue->counters().filtered == 6);
  CHECK(queue.adds_up());
}

TEST_CASE("what is filtered takes no room and makes nothing else drop") {
  for (const auto policy : {overflow_policy::drop_oldest, overflow_policy::drop_newest,
                            overflow_policy::disconnect, overflow_policy::block}) {
    filtered_queue queue{"$ in 0..3", {policy, 4, 1 << 20}};
    queue->push_run(run_of(numbers_to(1000)), {});
    CHECK(queue->counters().dropped() == 0);
    CHECK(queue->counters().filtered == 996);
    CHECK(queue.pull_all().size() == 4);
    CHECK(!queue->finished());
    CHECK(queue.adds_up());
  }
}

TEST_CASE("policies hold among the messages that fulfil the condition") {
  const auto counters_of = [](overflow_policy policy, std::vector<std::uint64_t>& left) {
    filtered_queue queue{"1 in 2", {policy, 10, 1 << 20}}; // some in a row, some alone
    queue->push_run(run_of(numbers_to(1000)), {});
    CHECK(queue.adds_up());
    left = queue.pull_all();
    CHECK(queue.adds_up());
    return queue->counters();
  };
  std::vector<std::uint64_t> all;
  const auto kept = counters_of(overflow_policy::block, all);
  CHECK(all.size() > 300);
  CHECK(kept.filtered == 1000 - all.size());
  std::vector<std::uint64_t> left;
  CHECK(counters_of(overflow_policy::drop_oldest, left).dropped_oldest == all.size() - 10);
  CHECK(left == std::vector<std::uint64_t>(all.end() - 10, all.end()));
  CHECK(counters_of(overflow_policy::drop_newest, left).dropped_newest == all.size() - 10);
  CHECK(left == std::vector<std::uint64_t>(all.begin(), all.begin() + 10));
  CHECK(counters_of(overflow_policy::disconnect, left).dropped_overflow == all.size() - 10);
  CHECK(left == std::vector<std::uint64_t>(all.begin(), all.begin() + 10));
  CHECK(counters_of(overflow_policy::conflate, left).conflated == all.size() - 1);
  CHECK(left == std::vector<std::uint64_t>{all.back()});
}

TEST_CASE("a message that was selected alone keeps its origin and its number") {
  filtered_queue queue{"$ == 70"};
  const auto run = run_of(numbers_to(100));
  queue->push_run(run, {});
  std::vector<data_message> out;
  REQUIRE(queue->pull(out, 10, immediately()) == 1);
  const auto origin = get_origin(out.front());
  REQUIRE(origin);
  CHECK(origin->endpoint == run->origin().endpoint);
  CHECK(origin->sequence == 70);
}

TEST_CASE("one message out of a large read does not keep the memory of the others") {
  filtered_queue queue{"$ == 70"};
  auto run = run_of(numbers_to(1000));
  const message_run* const whole = run.get();
  queue->push_run(run, {});
  CHECK(whole->unique()); // the queue holds a copy of its own
  filtered_queue most{"$ != 70"};
  most->push_run(run, {});
  CHECK(!whole->unique());
}

TEST_CASE("a gap in the numbers of a stream is missed, what was filtered is not") {
  filtered_queue queue{"$ == 1 || $ == 12"};
  auto first = run_of(numbers_to(5));
  queue->push_run(first, {});
  record_source source;
  auto late = run_of({10, 11, 12});
  source.owner = nullptr;
  source.first = late->bytes();
  source.topics = late->topics();
  source.origin = first->origin();
  source.origin.first_sequence = 10;
  queue->push_run(message_run::of_records(source, late->now().end), {});
  CHECK(queue->counters().missed == 5);
  CHECK(queue->counters().filtered == 6);
  CHECK(queue.pull_all() == std::vector<std::uint64_t>{1, 12});
}

TEST_CASE("what is no value passes, and is counted as a decode error") {
  filtered_queue queue{"$ == 1"};
  auto memory = chunk::make(64);
  auto* behind = write_record_header(memory->data(), 1, 0);
  *behind = std::byte{99};
  record_source source;
  source.owner = memory.get();
  source.first = memory->data();
  source.topics = outbox_under_test::all_topics();
  queue->push_run(message_run::of_records(source, {1, record_header_bytes + 1}), {});
  CHECK(queue.pull_all().empty());
  CHECK(queue->counters().decode_errors == 1);
  CHECK(queue.adds_up());
}

TEST_CASE("a subscriber that sleeps is not woken by what it does not want") {
  filtered_queue queue{"$ == 7"};
  std::vector<std::uint64_t> got;
  std::thread consumer{[&] {
    std::vector<data_message> out;
    queue->pull(out, 10, {});
    for (const auto& each : out)
      got.push_back(*get_data(each).get_if<count>());
  }};
  bounded_queue* const exits[] = {&*queue};
  run_writer writer;
  for (std::uint64_t i = 0; i < 8; ++i) {
    auto msg = make_data_message("/t", data{count{i}});
    writer.push(exits, msg, 10, {});
  }
  consumer.join();
  CHECK(got == std::vector<std::uint64_t>{7});
}

TEST_CASE("several producers may pass a condition at once") {
  filtered_queue queue{"1 in 3"};
  constexpr std::uint64_t each_one = 5'000;
  std::vector<std::thread> producers;
  for (int i = 0; i < 4; ++i)
    producers.emplace_back([&] {
      bounded_queue* const exits[] = {&*queue};
      run_writer writer;
      for (std::uint64_t n = 0; n < each_one; ++n) {
        auto msg = make_data_message("/t", data{count{n}});
        writer.push(exits, msg, 10, {});
      }
    });
  for (auto& each : producers)
    each.join();
  const auto all = queue->counters();
  CHECK(all.offered == 4 * each_one);
  CHECK(all.queued % 4 == 0);
  CHECK(all.queued == queue.pull_all().size());
  CHECK(queue.adds_up());
}
