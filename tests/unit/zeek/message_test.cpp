// Whatever Zeek sends through Broker, read into values.
// SPDX-License-Identifier: BSD-3-Clause
#include "support/vectors.hpp"

#include <pubsub/binary.hpp>
#include <pubsub/zeek/message.hpp>

#include <doctest/doctest.h>

using namespace pubsub;
using pubsub::test::just;

namespace {

const enum_value conn_log{"Conn::LOG"};
const enum_value ascii{"Log::WRITER_ASCII"};

data envelope(count kind, vector content) {
  return vector{count{1}, kind, std::move(content)};
}

expected<zeek::message> parse(const data& x) {
  const auto bytes = *encode_binary(x);
  return zeek::parse_message(*data_view::make(bytes));
}

std::string complaint_about(const data& x) {
  const auto result = parse(x);
  REQUIRE_FALSE(result);
  CHECK(result.error() == errc::invalid_message);
  return result.error().context();
}

vector column(std::string name, count type, count subtype) {
  return {std::move(name), none{}, type, subtype, true};
}

} // namespace

TEST_CASE("each kind of Zeek message is read into its own type") {
  const auto event = parse(zeek::make_event("e", just(count{1}), timestamp{}));
  CHECK(std::get<zeek::event>(*event) == zeek::event{"e", just(count{1}), timestamp{}});
  const vector info{"conn", 0.0, 3600.0, 1.5, table{}, ""};
  const auto create =
      parse(envelope(2, {conn_log, ascii, info,
                         vector{column("ts", 5, 22), column("id.orig_h", 11, 22),
                                column("tunnel_parents", 14, 7), column("path", 19, 12)}}));
  CHECK(std::get<zeek::log_create>(*create) == zeek::log_create{conn_log,
                                                                ascii,
                                                                "conn",
                                                                {{"ts", "time"},
                                                                 {"id.orig_h", "addr"},
                                                                 {"tunnel_parents", "set[string]"},
                                                                 {"path", "vector[subnet]"}}});
  const auto write = parse(envelope(3, {conn_log, ascii, "conn", "bytes"}));
  CHECK(std::get<zeek::log_write>(*write) == zeek::log_write{conn_log, ascii, "conn", "bytes"});
  const auto update = parse(envelope(4, {"Site::name", set{count{1}}}));
  CHECK(std::get<zeek::identifier_update>(*update) ==
        zeek::identifier_update{"Site::name", set{count{1}}});
}

TEST_CASE("batches within batches flatten to their messages in order") {
  const auto a = zeek::make_event("a", {});
  const auto b = zeek::make_event("b", {});
  const auto write = envelope(3, {conn_log, ascii, "conn", ""});
  const auto x = parse(envelope(5, {a, envelope(5, {b, envelope(5, {}), write})}));
  REQUIRE(x);
  REQUIRE(std::get<zeek::batch>(*x).messages.size() == 2);
  const auto flat = zeek::flatten(*x);
  REQUIRE(flat.size() == 3);
  CHECK(std::get<zeek::event>(flat[0]).name == "a");
  CHECK(std::get<zeek::event>(flat[1]).name == "b");
  CHECK(std::get<zeek::log_write>(flat[2]).path == "conn");
  CHECK(zeek::flatten(flat[0]) == std::vector<zeek::message>{flat[0]});
}

TEST_CASE("further elements are ignored, and numbers of types may be integers") {
  const auto x =
      parse(vector{count{1}, count{2},
                   vector{conn_log, ascii, vector{}, just(vector{"a", "a", 8, 0}), "x"}, "more"});
  CHECK(std::get<zeek::log_create>(*x) ==
        zeek::log_create{conn_log, ascii, "", {{"a", "pattern"}}});
}

TEST_CASE("a message that is none says which part of it is wrong") {
  CHECK(complaint_about(none{}) == "Zeek message: not a vector of version, type and content");
  CHECK(complaint_about(vector{count{2}, count{1}, vector{}}) == "Zeek message: version is not 1");
  CHECK(complaint_about(vector{count{1}, 1, vector{}}) ==
        "Zeek message: type is not a count, or content not a vector");
  CHECK(complaint_about(envelope(0, {})) == "Zeek message: there is no type 0");
  CHECK(complaint_about(envelope(6, {})) == "Zeek message: there is no type 6");
  CHECK(complaint_about(envelope(1, {"e"})) == "Event: name, arguments or metadata are malformed");
  CHECK(complaint_about(envelope(2, {conn_log})) == "LogCreate: fewer than four elements");
  CHECK(complaint_about(envelope(2, {"s", ascii, vector{}, vector{}})) ==
        "LogCreate: stream is not an enum label");
  CHECK(complaint_about(envelope(3, {conn_log, "w", "conn", ""})) ==
        "LogWrite: writer is not an enum label");
  CHECK(complaint_about(envelope(2, {conn_log, ascii, vector{}, "fields"})) ==
        "LogCreate: fields are not a vector");
  for (const data& field :
       {data{"ts"}, data{column("ts", 23, 22)}, data{column("ts", 5, 23)},
        data{column("ts", ~count{0}, 22)}, data{vector{1, none{}, count{1}, count{22}, true}},
        data{vector{"ts", none{}, 5.0, count{22}, true}}})
    CHECK(complaint_about(
              envelope(2, {conn_log, ascii, vector{}, vector{column("a", 1, 22), field}})) ==
          "LogCreate: field 1 is malformed");
  CHECK(complaint_about(envelope(3, {conn_log, ascii})) == "LogWrite: fewer than four elements");
  CHECK(complaint_about(envelope(3, {conn_log, ascii, 1, ""})) == "LogWrite: path is not a string");
  CHECK(complaint_about(envelope(3, {conn_log, ascii, "conn", none{}})) ==
        "LogWrite: the record is not a string");
  CHECK(complaint_about(envelope(4, {"id"})) == "IdentifierUpdate: not a name and a value");
}

TEST_CASE("one bad member makes a batch bad and is named, whatever the nesting") {
  auto x = envelope(5, {zeek::make_event("e", {}), envelope(4, {})});
  CHECK(complaint_about(x) == "Batch: member 1: IdentifierUpdate: not a name and a value");
  for (int level = 0; level < 20; ++level)
    x = envelope(5, just(x));
  CHECK(complaint_about(x).size() == 200);
}
