// SPDX-License-Identifier: BSD-3-Clause
#include "support/random_data.hpp"

#include <pubsub/binary.hpp>
#include <pubsub/format.hpp>

#include <doctest/doctest.h>

using namespace pubsub;

TEST_CASE("strings are escaped in eight places and raw everywhere else") {
  CHECK(to_json(data{"\\ \" \b \f \n \r \t \v / \x01 \x7f \xff"}) ==
        "{\"@data-type\":\"string\",\"data\":"
        "\"\\\\ \\\" \\b \\f \\n \\r \\t \\v / \x01 \x7f \xff\"}");
}

TEST_CASE("a data message carries topic and value in one object") {
  const auto bytes = *encode_binary(vector{count{1}});
  CHECK(to_json("a\"b", *data_view::make(bytes)) ==
        R"({"type":"data-message","topic":"a\"b","@data-type":"vector",)"
        R"("data":[{"@data-type":"count","data":1}]})");
}

TEST_CASE("tables are arrays of pairs") {
  CHECK(to_json(data{table{{"k", none{}}}}) ==
        R"({"@data-type":"table","data":[{"key":{"@data-type":"string","data":"k"},)"
        R"("value":{"@data-type":"none","data":{}}}]})");
}

TEST_CASE("trees and views render alike") {
  test::random_data random{3};
  for (int i = 0; i < 500; ++i) {
    const auto x = random.value();
    const auto bytes = *encode_binary(x);
    CHECK(to_json(*data_view::make(bytes)) == to_json(x));
  }
}
