// Any bytes as a batch of version 2, the topics for it, or credit.
// SPDX-License-Identifier: BSD-3-Clause
#include "fuzz/check.hpp"
#include "fuzz/target.hpp"

#include "message/record.hpp"
#include "wire/native/batch.hpp"

#include <algorithm>

namespace pubsub::fuzz {

namespace {

void try_records(std::span<const std::byte> bytes) {
  const memory_bound none{0};
  const auto x = wire::parse_batch(bytes);
  if (!x)
    return;
  std::byte header[wire::batch_header_bytes];
  wire::write_batch_header(header, x->header, x->records.size());
  check(std::ranges::equal(std::span{header}.subspan(5), bytes.subspan(1, sizeof header - 5)),
        "a batch header is written as it was read");
  check(wire::hops_come(x->header.origin.hops_left) < wire::max_hops, "hops are bounded");
  const auto all = wire::check_records(x->records, x->header.messages, 256);
  const auto few = wire::check_records(x->records, x->header.messages, 1);
  check(few != wire::records_check::several_topics, "of one topic there are not several");
  if (all == wire::records_check::malformed)
    return check(few == all, "with fewer topics nothing becomes well-formed");
  auto rest = x->records;
  for (auto n = x->header.messages; n > 0; --n) {
    check(rest.size() >= record_header_bytes && record_bytes(rest.data()) <= rest.size(),
          "a record ends inside its batch");
    rest = rest.subspan(record_bytes(rest.data()));
  }
  check(rest.empty(), "a batch is made of its records");
}

void check_topics_give_back(const wire::topics_news& x) {
  const auto table = topic_table::make(topic_table::max_topics);
  while (table->size() < x.first)
    table->add("");
  for (const auto& each : x.topics) {
    const link_destinations all{nullptr, {each.destinations.begin(), each.destinations.end()}};
    table->add(each.text, std::make_shared<destinations_by_link>(destinations_by_link{all}));
  }
  const auto frame = wire::make_topics(x.table, *table, x.first, table->size(), nullptr);
  const auto again = wire::parse_topics(std::span{frame}.subspan(4));
  check(again && again->table == x.table && again->first == x.first &&
            std::ranges::equal(again->topics, x.topics,
                               [](const auto& one, const auto& other) {
                                 return one.text == other.text &&
                                        one.destinations == other.destinations;
                               }),
        "topics are read as they were written");
}

void try_topics(std::span<const std::byte> bytes) {
  std::optional<wire::topics_news> x;
  {
    const auto bound = bounded_by(bytes.size());
    x = wire::parse_topics(bytes);
  }
  if (!x)
    return;
  check(x->first + x->topics.size() <= topic_table::max_topics, "topics have numbers");
  check(x->table < wire::max_tables, "tables have numbers");
  check_topics_give_back(*x);
}

void try_input(std::span<const std::byte> bytes) {
  const auto kind = wire::kind_of(bytes);
  check(!kind || static_cast<std::size_t>(*kind) == std::to_integer<std::size_t>(bytes[0]),
        "the kind is the first byte");
  try_records(bytes);
  try_topics(bytes);
  if (const auto x = wire::parse_credit(bytes)) {
    check(x->hops < wire::max_hops, "credit is for hops there are");
    const auto again = wire::make_credit(*x);
    check(std::ranges::equal(std::span{again}.subspan(5), bytes.subspan(1)),
          "credit is written as it was read");
  }
}

} // namespace

} // namespace pubsub::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  pubsub::fuzz::try_input(std::as_bytes(std::span{data, size}));
  return 0;
}
