#include "pattern/remote/remote_messages.hpp"

#include "support/written.hpp"

#include <doctest/doctest.h>

#include <random>

using namespace pubsub;
using namespace pubsub::pattern;
using namespace pubsub::test;

namespace {

reply_head some_head() {
  reply_head head;
  head.instance = endpoint_id::random();
  head.stream = 3;
  head.here_ns = 1'000;
  head.busy_ns = 500;
  head.places = {{4, 2}, {9, 1}};
  head.failed = {{1, {errc::type_clash, "a count"}}};
  head.untaken = {{7, 2}};
  return head;
}

} // namespace

TEST_CASE("messages of remote execution are read as they were written") {
  const auto id = endpoint_id::random();
  data_writer out;
  write_hello(out, {id});
  CHECK(parse_hello(view_of(out))->client == id);

  out.clear();
  const offered_operations operations{{"read", true}, {"write", false}};
  write_status(out, {id, true, 4, operations});
  const auto status = parse_status(view_of(out));
  REQUIRE(status);
  CHECK(status->instance == id);
  CHECK(status->leaving);
  CHECK(status->workers == 4);
  CHECK(status->operations == operations);

  out.clear();
  data_writer values;
  values.write_count(1);
  values.write_string("two");
  write_request(out, {id, 2, 17}, "read", 2, values.bytes());
  const auto request = parse_request(view_of(out));
  REQUIRE(request);
  CHECK(request->at.client == id);
  CHECK(request->at.stream == 2);
  CHECK(request->at.first == 17);
  CHECK(request->operation == "read");
  CHECK(request->arguments.size() == 2);

  out.clear();
  write_cancel(out, {id, 2, 5});
  const auto cancel = parse_cancel(view_of(out));
  REQUIRE(cancel);
  CHECK(cancel->place == 5);
}

TEST_CASE("a reply carries results, errors with code and text, and what was not begun") {
  data_writer out, results;
  results.write_count(1);
  results.write_none();
  results.write_count(3);
  const auto head = some_head();
  write_reply(out, head, 3, results.bytes());
  const auto reply = parse_reply(view_of(out));
  REQUIRE(reply);
  CHECK(reply->head.instance == head.instance);
  CHECK(reply->head.places == head.places);
  CHECK(reply->head.untaken == head.untaken);
  REQUIRE(reply->head.failed.size() == 1);
  CHECK(reply->head.failed[0].index == 1);
  CHECK(reply->head.failed[0].error == errc::type_clash);
  CHECK(reply->head.failed[0].error.context() == "a count");
  CHECK(reply->results.size() == 3);
}

TEST_CASE("an error code that is not known, or says there is none, is an error all the same") {
  for (const auto code : {0, 42, 200}) {
    data_writer out, results;
    results.write_none();
    reply_head head;
    head.places = {{0, 1}};
    head.failed = {{0, {static_cast<errc>(code), "text"}}};
    write_reply(out, head, 1, results.bytes());
    const auto reply = parse_reply(view_of(out));
    REQUIRE(reply);
    CHECK(reply->head.failed.at(0).error == errc::unspecified);
  }
}

TEST_CASE("a reply whose numbers do not fit its results is refused") {
  data_writer results;
  results.write_count(1);
  const auto parsed = [&](const reply_head& head) {
    data_writer out;
    write_reply(out, head, 1, results.bytes());
    return parse_reply(view_of(out)).has_value();
  };
  reply_head head;
  head.places = {{0, 1}};
  CHECK(parsed(head));
  head.places = {{0, 2}};
  CHECK_FALSE(parsed(head));
  head.places = {{0, ~std::uint64_t{0}}};
  CHECK_FALSE(parsed(head));
  head.places = {{0, 1}};
  head.failed = {{1, {errc::type_clash}}};
  CHECK_FALSE(parsed(head));
}

TEST_CASE(
    "no bytes of a message of remote execution can be changed so that reading it goes wrong") {
  data_writer out, results;
  results.write_count(1);
  results.write_none();
  results.write_count(3);
  write_reply(out, some_head(), 3, results.bytes());
  std::mt19937 random{1};
  for (int i = 0; i < 20'000; ++i) {
    std::vector<std::byte> bytes{out.bytes().begin(), out.bytes().end()};
    for (unsigned n = 1 + random() % 3; n > 0; --n)
      bytes[random() % bytes.size()] = static_cast<std::byte>(random());
    const auto view = data_view::make(bytes);
    if (!view)
      continue;
    if (const auto reply = parse_reply(*view))
      for (const auto& each : reply->head.failed)
        CHECK(each.index < reply->results.size());
    (void)parse_request(*view);
    (void)parse_status(*view);
    (void)parse_cancel(*view);
  }
}
