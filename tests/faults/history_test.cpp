// The histories the fault suite judges by: planted faults must be found in them.
// SPDX-License-Identifier: BSD-3-Clause
#include "history.hpp"
#include "numbered.hpp"

#include <vector>

#include <doctest/doctest.h>

using namespace faults;
using gap = stream_history::gap;

namespace {

stream_history seen(const std::vector<std::uint64_t>& numbers) {
  stream_history all;
  for (const auto number : numbers)
    all.visit(number);
  return all;
}

pubsub::data_message message(const numbered& head, std::string_view topic,
                             std::string_view written_for) {
  pubsub::data_writer out;
  write_numbered(out, head, written_for, 10, 500);
  return pubsub::make_data_message(topic,
                                   pubsub::data_view::make(out.bytes()).value_or({}).to_data());
}

} // namespace

TEST_CASE("numbers in a row leave no trace but their count") {
  const auto all = seen({0, 1, 2, 3});
  CHECK(all.first() == 0);
  CHECK(all.next() == 4);
  CHECK(all.received() == 4);
  CHECK(all.missing() == 0);
  CHECK(all.duplicates() == 0);
  CHECK(all.reorders() == 0);
  CHECK(all.gaps().empty());
}

TEST_CASE("a skipped number is a gap") {
  const auto all = seen({0, 1, 4, 7});
  CHECK(all.missing() == 4);
  CHECK(all.gap_count() == 2);
  CHECK(all.gaps() == std::deque<gap>{{2, 4}, {5, 7}});
}

TEST_CASE("what came before the first message is missing, too") {
  const auto all = seen({5, 6});
  CHECK(all.first() == 5);
  CHECK(all.missing() == 5);
}

TEST_CASE("a number that comes again is a duplicate, not a reorder") {
  const auto all = seen({0, 1, 1, 0, 2});
  CHECK(all.duplicates() == 2);
  CHECK(all.reorders() == 0);
  CHECK(all.received() == 3);
}

TEST_CASE("a number that comes late is a reorder, and its second copy a duplicate") {
  const auto all = seen({0, 4, 2, 2, 1, 3, 5});
  CHECK(all.reorders() == 3);
  CHECK(all.duplicates() == 1);
  CHECK(all.missing() == 0);
  CHECK(all.gaps().empty());
}

TEST_CASE("a late number splits its gap") {
  const auto all = seen({0, 9, 4});
  CHECK(all.gaps() == std::deque<gap>{{1, 4}, {5, 9}});
  CHECK(all.missing() == 7);
}

TEST_CASE("gaps without number take bounded memory and are counted all the same") {
  stream_history all;
  const std::uint64_t n = 3 * stream_history::max_gaps;
  for (std::uint64_t i = 0; i < n; ++i)
    all.visit(2 * i + 1);
  CHECK(all.gaps().size() == stream_history::max_gaps);
  CHECK(all.gap_count() == n);
  CHECK(all.missing() == n);
}

TEST_CASE("a message is read back as it was written") {
  const auto head = read_numbered(message({7, 42}, "/t", "/t"));
  REQUIRE(head.has_value());
  CHECK(head->publisher == 7);
  CHECK(head->number == 42);
}

TEST_CASE("a message under another topic, or with another byte, is corrupt") {
  history all;
  all.visit(message({7, 0}, "/t", "/t"));
  CHECK(all.corrupt() == 0);
  all.visit(message({7, 1}, "/u", "/t"));
  CHECK(all.corrupt() == 1);
  all.visit(pubsub::make_data_message("/t", pubsub::data{"something else"}));
  CHECK(all.corrupt() == 2);

  pubsub::data_writer out;
  write_numbered(out, {7, 1}, "/t", 100, 100);
  std::vector<std::byte> bytes{out.bytes().begin(), out.bytes().end()};
  for (std::size_t i = bytes.size() - 100; i < bytes.size(); ++i) {
    auto changed = bytes;
    changed[i] ^= std::byte{1};
    const auto view = pubsub::data_view::make(changed);
    REQUIRE(view.has_value());
    CHECK_FALSE(read_numbered(pubsub::make_data_message("/t", view->to_data())).has_value());
  }
}

TEST_CASE("publishers and topics have histories of their own") {
  history all;
  for (const auto* topic : {"/a", "/b"})
    for (std::uint64_t publisher : {1, 2})
      all.visit(message({publisher, 0}, topic, topic));
  CHECK(all.corrupt() == 0);
  const auto text = all.streams_json();
  std::size_t streams = 0;
  for (auto at = text.find("\"missing\":0"); at != std::string::npos;
       at = text.find("\"missing\":0", at + 1))
    ++streams;
  CHECK(streams == 4);
}
