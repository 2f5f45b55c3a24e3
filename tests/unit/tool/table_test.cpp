// SPDX-License-Identifier: BSD-3-Clause
#include "top/table.hpp"

#include <doctest/doctest.h>

using namespace pubsub;
using namespace pubsub::tool;

namespace {

row row_named(const std::string& name, double in, health how = health::good) {
  row result;
  result.key = result.name = name;
  result.how = how;
  result.state = "ok";
  result.rates_known = true;
  result.in = in;
  return result;
}

std::string order(std::vector<row> rows, column by, direction which = direction::usual) {
  sort_rows(rows, by, which);
  std::string result;
  for (const auto& each : rows)
    result += each.name;
  return result;
}

} // namespace

TEST_CASE("the most comes first, the worst state too, and names from a to z") {
  auto unknown = row_named("d", 99);
  unknown.rates_known = false;
  const std::vector<row> rows{row_named("b", 1), unknown, row_named("c", 30, health::silent),
                              row_named("a", 1)};
  CHECK(order(rows, column::in) == "cabd");
  CHECK(order(rows, column::in, direction::reversed) == "dabc");
  CHECK(order(rows, column::state) == "cabd");
  CHECK(order(rows, column::name) == "abcd");
  CHECK(order(rows, column::name, direction::reversed) == "dcba");
}

TEST_CASE("what is not known is a dash") {
  auto x = row_named("a", 5);
  CHECK(cell(x, column::in) == "5");
  CHECK(cell(x, column::up) == "-");
  CHECK(cell(x, column::round_trip) == "-");
  x.rates_known = false;
  x.round_trip_s = 0.0123;
  x.full = 0.456;
  CHECK(cell(x, column::in) == "-");
  CHECK(cell(x, column::round_trip) == "12ms");
  CHECK(cell(x, column::full) == "46%");
}

TEST_CASE("a line fits into any width, with what matters least left out") {
  for (const std::size_t width : {40, 60, 80, 100, 120, 200}) {
    for (const auto which : {view::nodes, view::links, view::subscribers}) {
      const auto columns = columns_for(which, width);
      CHECK(header_of(columns).size() == width);
      CHECK(line_of(row_named(std::string(300, 'n'), 1e9), columns).size() == width);
    }
  }
  const auto has = [](std::size_t width, column what) {
    for (const auto& each : columns_for(view::nodes, width))
      if (each.what == what)
        return true;
    return false;
  };
  CHECK_FALSE(has(80, column::why));
  CHECK(has(80, column::clients));
  CHECK(has(80, column::dropped));
  CHECK(has(120, column::up));
  CHECK(has(140, column::credit_waits));
  CHECK(has(150, column::why));
}

TEST_CASE("a plain table cuts nothing") {
  const std::string name(60, 'n');
  CHECK(plain_table(view::nodes, {row_named(name, 1)}).find(name) != std::string::npos);
}

TEST_CASE("objects have no members for what is not known") {
  auto x = row_named("a", 5);
  x.losses = {{"peer gone", 3, 0.5}};
  CHECK(
      json_of(view::links, x).text() ==
      R"({"name":"a","state":"ok","in_per_s":5,"out_per_s":0,"dropped_per_s":0.5,)"
      R"("bytes_in_per_s":0,"bytes_out_per_s":0,"credit_waits_per_s":0,"queued":0,"full":0,"dropped":3,)"
      R"("dropped_by":{"peer gone":3}})");
  x.rates_known = false;
  CHECK(json_of(view::links, x).text().find("per_s") == std::string::npos);
}
