// SPDX-License-Identifier: BSD-3-Clause
#include "pattern/remote/remote_messages.hpp"

#include "support/written.hpp"

#include <doctest/doctest.h>

#include <random>

using namespace pubsub;
using namespace pubsub::pattern;
using namespace pubsub::test;

namespace {

/// The second of three results is an error.
service_reply<value_list> some_reply(data_writer& results) {
  results.write_count(1);
  write_error(results, {errc::type_clash, "a count"});
  results.write_count(3);
  service_reply<value_list> head;
  head.instance = endpoint_id::random();
  head.stream = 3;
  head.here_ns = 1'000;
  head.busy_ns = 500;
  head.places = {{4, 2}, {9, 1}};
  head.failed = {{1, 1}};
  head.untaken = {{7, 2}};
  head.results = {3, results.bytes()};
  return head;
}

} // namespace

TEST_CASE("messages of remote execution are read as they were written") {
  const auto id = endpoint_id::random();
  data_writer out;
  write(out, service_hello{id});
  CHECK(parse<service_hello>(view_of(out))->client == id);

  out.clear();
  write(out, service_status{id, true, 4, {{"read", true}, {"write", false}}});
  const auto status = parse<service_status>(view_of(out));
  REQUIRE(status);
  CHECK(status->instance == id);
  CHECK(status->leaving);
  CHECK(status->workers == 4);
  REQUIRE(status->operations.size() == 2);
  CHECK(status->operations[0].name == "read");
  CHECK(status->operations[0].idempotent);
  CHECK(status->operations[1].name == "write");
  CHECK_FALSE(status->operations[1].idempotent);

  out.clear();
  data_writer values;
  values.write_count(1);
  values.write_string("two");
  write(out, service_request<value_list>{id, 2, 17, "read", {2, values.bytes()}});
  const auto request = parse<request_view>(view_of(out));
  REQUIRE(request);
  CHECK(request->client == id);
  CHECK(request->stream == 2);
  CHECK(request->first == 17);
  CHECK(request->operation == "read");
  CHECK(request->arguments.size() == 2);

  out.clear();
  write(out, cancel_request{id, 2, 5});
  const auto cancel = parse<cancel_request>(view_of(out));
  REQUIRE(cancel);
  CHECK(cancel->place == 5);
}

TEST_CASE("a reply carries results, errors with code and text, and what was not begun") {
  data_writer out, results;
  const auto head = some_reply(results);
  write(out, head);
  const auto reply = parse<reply_view>(view_of(out));
  REQUIRE(reply);
  CHECK(reply->instance == head.instance);
  CHECK(reply->places == head.places);
  CHECK(reply->untaken == head.untaken);
  CHECK(reply->failed == head.failed);
  REQUIRE(reply->results.size() == 3);
  const auto error = read_error(*++reply->results.elements().begin());
  CHECK(error == errc::type_clash);
  CHECK(error.context() == "a count");
}

TEST_CASE("an error code that is not known, or says there is none, is an error all the same") {
  for (const auto code : {0, 42, 200}) {
    data_writer out;
    write_error(out, {static_cast<errc>(code), "text"});
    CHECK(read_error(view_of(out)) == errc::unspecified);
  }
  data_writer none;
  none.write_none();
  CHECK(read_error(view_of(none)) == errc::unspecified);
}

TEST_CASE("a reply whose numbers do not fit its results is refused") {
  data_writer results;
  results.write_count(1);
  results.write_count(2);
  service_reply<value_list> head;
  head.results = {2, results.bytes()};
  const auto parsed = [](const service_reply<value_list>& reply) {
    data_writer out;
    write(out, reply);
    return parse<reply_view>(view_of(out)).has_value();
  };
  head.places = {{0, 2}};
  CHECK(parsed(head));
  head.places = {{0, 3}};
  CHECK_FALSE(parsed(head));
  head.places = {{0, ~std::uint64_t{0}}};
  CHECK_FALSE(parsed(head));
  head.places = {{0, 2}};
  head.failed = {{0, 1}, {1, 1}};
  CHECK(parsed(head));
  head.failed = {{2, 1}};
  CHECK_FALSE(parsed(head));
  head.failed = {{1, 1}, {0, 1}};
  CHECK_FALSE(parsed(head));
  head.failed = {{0, 2}, {1, 1}};
  CHECK_FALSE(parsed(head));
}

TEST_CASE("a status whose operations are no names with a flag each is refused") {
  const data id{std::string(16, 'x')};
  const auto parsed = [&](std::initializer_list<data> operations) {
    data_writer out;
    out.write(vector{count{2}, id, false, count{1}, vector{operations}});
    return parse<service_status>(view_of(out)).has_value();
  };
  CHECK(parsed({}));
  CHECK(parsed({vector{"read", true}}));
  CHECK_FALSE(parsed({"read", true}));
  CHECK_FALSE(parsed({vector{"read"}}));
  CHECK_FALSE(parsed({vector{"read", count{1}}}));
  CHECK_FALSE(parsed({vector{true, "read"}}));
}

TEST_CASE(
    "no bytes of a message of remote execution can be changed so that reading it goes wrong") {
  data_writer out, results;
  write(out, some_reply(results));
  std::mt19937 random{1};
  for (int i = 0; i < 20'000; ++i) {
    std::vector<std::byte> bytes{out.bytes().begin(), out.bytes().end()};
    for (unsigned n = 1 + random() % 3; n > 0; --n)
      bytes[random() % bytes.size()] = static_cast<std::byte>(random());
    const auto view = data_view::make(bytes);
    if (!view)
      continue;
    if (const auto reply = parse<reply_view>(*view)) {
      for (const auto& each : reply->failed)
        CHECK(each.first + each.count <= reply->results.size());
      for (const auto& each : reply->results.elements())
        CHECK(read_error(each));
    }
    (void)parse<request_view>(*view);
    (void)parse<service_status>(*view);
    (void)parse<cancel_request>(*view);
  }
}
