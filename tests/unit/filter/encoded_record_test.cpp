// SPDX-License-Identifier: BSD-3-Clause
#include "filter/encoded_record.hpp"

#include "support/hex.hpp"

#include <pubsub/binary.hpp>
#include <pubsub/zeek/event.hpp>
#include <pubsub/zeek/log.hpp>

#include <string>
#include <vector>

#include <doctest/doctest.h>

using namespace pubsub;
using namespace pubsub::test;
using conditions::encoded_record;
using conditions::record_shape;

namespace {

buffer bytes_of(const data& x) {
  const auto encoded = encode_binary(x);
  const auto all = std::span<const std::byte>{*encoded};
  return {all.begin(), all.end()};
}

buffer record_of(const std::string& log, std::uint64_t n) {
  const auto host = *address::parse("10.0.0.1");
  return bytes_of(zeek::make_log_event(log, vector{n, "C" + std::to_string(n), host, none{}, 0.5}));
}

/// Everything that is asked of a record: it may not depend on the messages before.
std::string all_of(encoded_record record, std::size_t bytes) {
  std::string_view name;
  std::string_view path;
  conditions::members columns;
  const auto event = record.event_name(name);
  auto result = std::to_string(static_cast<int>(event)) + std::string{name};
  result += record.announces_columns(path, columns) ? "announces " + std::string{path} : "";
  for (std::uint32_t i = 0; i < 7; ++i) {
    const std::byte* at = nullptr;
    const auto there = record.member(i, at);
    result += ' ' + std::to_string(static_cast<int>(there));
    if (there == conditions::look::yes)
      result += '@' + std::to_string(at - record.bytes().data());
  }
  CHECK(record.bytes().size() == bytes);
  return result;
}

/// The message behind another one. It lies in a block of its exact size, so that sanitizers see a
/// read beyond it.
void check_behind(const buffer& before, const buffer& message) {
  record_shape shape;
  all_of(encoded_record{before, 100, &shape}, before.size());
  const auto alone = all_of(encoded_record{message, 100}, message.size());
  REQUIRE(all_of(encoded_record{message, 100, &shape}, message.size()) == alone);
  REQUIRE(all_of(encoded_record{message, 100, &shape}, message.size()) == alone);
}

} // namespace

TEST_CASE("the shape of the message before changes nothing, whatever comes") {
  const std::vector<buffer> messages{
      record_of("conn", 1),
      record_of("conn", 1'000'000'000),
      record_of("dns", 2),
      record_of(std::string(200, 'x'), 3),
      bytes_of(zeek::make_event("log_conn", {vector{count{1}}, count{2}})), // two arguments
      bytes_of(zeek::make_event("log_conn", {count{1}})),                   // no columns
      bytes_of(zeek::make_event("log_", {vector{}})),
      bytes_of(zeek::make_event("log_fields", {"conn", vector{}})),
      bytes_of(zeek::make_event("other", {vector{count{1}, "x"}})),
      bytes_of(vector{count{1}, "x", none{}}),
      bytes_of("no record"),
      {},
  };
  for (const auto& before : messages)
    for (const auto& each : messages)
      check_behind(before, each);
}

TEST_CASE("a record cut off anywhere, or with any byte changed, is read as if it came alone") {
  const auto whole = record_of("conn", 7);
  for (std::size_t size = 0; size < whole.size(); ++size)
    check_behind(whole, buffer(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)));
  for (std::size_t at = 0; at < whole.size(); ++at)
    for (const int change : {1, 2, 4, 0x20, 0x7f, 0x80, 0xff}) {
      auto other = whole;
      other[at] ^= static_cast<std::byte>(change);
      check_behind(whole, other);
      check_behind(other, whole);
      for (std::size_t cut = 1; cut < other.size(); cut += 4)
        check_behind(other, buffer(other.begin(), other.end() - static_cast<std::ptrdiff_t>(cut)));
    }
}

TEST_CASE("a member is where those before it end, whatever their types, or is cut off") {
  const auto host = *address::parse("10.0.0.1");
  const vector values{none{},
                      true,
                      count{1},
                      integer{-1},
                      0.5,
                      "text",
                      std::string(200, 'x'),
                      host,
                      subnet{host, 8},
                      port{443, transport::tcp},
                      timestamp{},
                      timespan{1},
                      enum_value{"label"},
                      vector{count{1}, "x"},
                      set{count{1}, count{2}},
                      table{{count{1}, "x"}},
                      count{2}};
  const auto whole = bytes_of(values);
  for (std::size_t size = 0; size <= whole.size(); ++size) {
    const buffer cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
    std::size_t begin = 2; // of a vector
    for (std::uint32_t i = 0; i < values.size(); ++i) {
      const std::byte* at = nullptr;
      const auto there = encoded_record{cut}.member(i, at);
      const bool is_there = size >= 2 + values.size() && begin < size;
      REQUIRE(there == (is_there ? conditions::look::yes : conditions::look::unreadable));
      if (is_there)
        REQUIRE(static_cast<std::size_t>(at - cut.data()) == begin);
      begin += bytes_of(values[i]).size();
    }
  }
}
