// SPDX-License-Identifier: BSD-3-Clause
#include <doctest/doctest.h>

#include "studies/remote_conclusions.hpp"
#include "studies/remote_models.hpp"

using namespace pubsub;
using namespace pubsub::tool::bench;

namespace {

remote_parameters known() {
  remote_parameters x;
  x.latency_s = 0.04;
  x.up_bytes_per_s = 5e6;
  x.down_bytes_per_s = 1e6;
  x.up_header_bytes = 40;
  x.down_header_bytes = 30;
  x.operation_s[0] = 1e-6;
  x.operation_s[1] = 3e-6;
  return x;
}

remote_work small(std::size_t n) {
  remote_work x;
  x.operations = n;
  return x;
}

/// A network that behaves as the models say.
remote_measure behaving_as(const remote_parameters& at) {
  return [at](remote_mode mode, const remote_work& what) {
    const auto shape = shape_of(mode, what.operations);
    const auto n = static_cast<double>(what.operations);
    const auto requests = n / static_cast<double>(std::min(shape.bulk, what.operations));
    return remote_sample{
        modelled_seconds(at, mode, what),
        requests * at.up_header_bytes + n * static_cast<double>(argument_bytes(what)),
        requests * at.down_header_bytes + n * static_cast<double>(result_bytes(what)),
        {}};
  };
}

remote_cell_rows cell_with(const std::string& network, remote_sweep sweep, const remote_work& what,
                           const std::vector<std::pair<remote_mode, double>>& seconds) {
  remote_cell_rows result{{network, sweep, what}, {}};
  for (const auto& [mode, each] : seconds) {
    auto& row = result.rows.emplace_back();
    row.cell = result.cell;
    row.mode = mode;
    row.modelled_s = each;
    row.rounds = {each};
  }
  return result;
}

const remote_conclusion& about(const std::vector<remote_conclusion>& all, const std::string& word) {
  for (const auto& x : all)
    if (x.claim.find(word) != std::string::npos)
      return x;
  FAIL("no conclusion about ", word);
  return all.front();
}

} // namespace

TEST_CASE("a client in mode sync takes so many round trips") {
  const auto at = known();
  const auto one = modelled_seconds(at, remote_mode::sync, small(1));
  CHECK(one == doctest::Approx(0.04 + (40 + 9) / 5e6 + 1e-6 + (30 + 26) / 1e6));
  CHECK(modelled_seconds(at, remote_mode::sync, small(100)) == doctest::Approx(100 * one));
}

TEST_CASE("a bulk has the latency once") {
  const auto at = known();
  CHECK(modelled_seconds(at, remote_mode::bulk, small(50)) ==
        doctest::Approx(0.04 + (40 + 450) / 5e6 + 50e-6 + (30 + 1'300) / 1e6));
}

TEST_CASE("what takes long comes in pieces: execution and transfer overlap in a bulk too") {
  auto at = known();
  at.operation_s[0] = 0.01;
  auto what = small(20);
  what.size_bytes = 5'000;
  CHECK(modelled_seconds(at, remote_mode::bulk, what) ==
        doctest::Approx(0.04 + 20 * 0.01 + 0.005).epsilon(0.01));
}

TEST_CASE("a long reply comes in pieces while the rest is executed") {
  auto at = known();
  at.operation_s[0] = 0.1;
  auto what = small(10);
  what.size_bytes = 256 * 1024;
  const auto transfer = 10.0 * 256 * 1024 / 1e6;
  const auto takes = modelled_seconds(at, remote_mode::bulk, what);
  CHECK(takes > transfer + 0.1);
  CHECK(takes < transfer + 0.2);
}

TEST_CASE("a pipeline goes as fast as the slowest of its segments") {
  const auto at = known();
  const auto step = (30 + 26) / 1e6;
  CHECK(modelled_seconds(at, remote_mode::pipeline, small(10'000)) ==
        doctest::Approx(0.04 + 10'000 * step).epsilon(0.01));
  auto with_work = small(100);
  with_work.work = std::chrono::milliseconds{1};
  CHECK(modelled_seconds(at, remote_mode::pipeline, with_work) ==
        doctest::Approx(0.04 + 0.1).epsilon(0.01));
}

TEST_CASE("requests that all fit into the window wait for no reply") {
  CHECK(modelled_seconds(known(), remote_mode::pipeline, small(10)) < 0.042);
  CHECK(modelled_seconds(known(), remote_mode::async, small(32)) < 0.043);
  CHECK(modelled_seconds(known(), remote_mode::async, small(33)) > 0.043);
}

TEST_CASE("parallel requests are limited by their number where the way is long") {
  const auto one = modelled_seconds(known(), remote_mode::sync, small(1));
  CHECK(modelled_seconds(known(), remote_mode::async, small(3'200)) ==
        doctest::Approx(100 * one).epsilon(0.02));
}

TEST_CASE("auto takes what the best of the others does, and parts add up") {
  auto what = small(1'000);
  const auto best = modelled_seconds(known(), remote_mode::auto_, what);
  std::size_t as_good = 0;
  for (const auto each : {remote_mode::sync, remote_mode::bulk, remote_mode::async,
                          remote_mode::pipeline, remote_mode::hybrid}) {
    CHECK(best <= modelled_seconds(known(), each, what));
    as_good += best == modelled_seconds(known(), each, what) ? 1 : 0;
  }
  CHECK(as_good > 0);
  what.parts = 10;
  CHECK(modelled_seconds(known(), remote_mode::bulk, what) ==
        doctest::Approx(10 * modelled_seconds(known(), remote_mode::bulk, small(100))));
}

TEST_CASE("parameters of a network that behaves as the models say are found") {
  const auto at = known();
  const auto found = fit_parameters(behaving_as(at), 100'000);
  CHECK(found.latency_s == doctest::Approx(at.latency_s).epsilon(0.02));
  CHECK(found.up_bytes_per_s == doctest::Approx(at.up_bytes_per_s).epsilon(0.02));
  CHECK(found.down_bytes_per_s == doctest::Approx(at.down_bytes_per_s).epsilon(0.02));
  CHECK(found.up_header_bytes == doctest::Approx(at.up_header_bytes));
  CHECK(found.down_header_bytes == doctest::Approx(at.down_header_bytes));
  for (const auto mode : {remote_mode::bulk, remote_mode::pipeline, remote_mode::async})
    for (const std::size_t n : {1u, 100u, 10'000u})
      CHECK(modelled_seconds(found, mode, small(n)) ==
            doctest::Approx(modelled_seconds(at, mode, small(n))).epsilon(0.1));
}

TEST_CASE("an order survives its way to a client") {
  remote_order order{remote_mode::hybrid, small(100), 0.25};
  order.what.operation = operation_kind::faop;
  order.what.parts = 10;
  order.what.work = std::chrono::microseconds{7};
  order.what.ballast_bytes = 3;
  const auto read = remote_order::parse(order.text());
  REQUIRE(read.has_value());
  CHECK(read->mode == order.mode);
  CHECK(read->what == order.what);
  CHECK(read->least_s == order.least_s);
  for (const auto* line : {"", "run", "run fast noop 1 24 1 0 0 0", "run sync noop 1 24 0 0 0 0",
                           "run sync noop 1 24 2 0 0 0", "run sync read 1 24 1 0 0 0"})
    CHECK(!remote_order::parse(line).has_value());
}

TEST_CASE("arguments and results are as long as is said") {
  for (const auto kind : {operation_kind::noop, operation_kind::faop}) {
    auto what = small(7);
    what.operation = kind;
    CHECK(arguments_of(what).size() == 7 * argument_bytes(what));
    CHECK(result_bytes(what) == 26);
  }
}

TEST_CASE("auto is compared with the best mode round by round") {
  using enum remote_mode;
  auto cell = cell_with("lan", remote_sweep::operations, small(1),
                        {{sync, 1}, {bulk, 1}, {async, 1}, {auto_, 1}});
  CHECK(cell.auto_ratio() == 1);
  cell.rows[0].rounds = {3, 3, 3};
  cell.rows[1].rounds = {1, 2, 2}; // the best by its median; the machine was slow in the second
  cell.rows[2].rounds = {1, 5, 5};
  cell.rows[3].rounds = {1.5, 2.2, 2};
  CHECK(cell.auto_ratio() == doctest::Approx(1.1));
  cell.rows[1].rounds = {1, 2}; // of the third round it has no figure
  CHECK(cell.auto_ratio() == doctest::Approx(1.3));
  cell.rows.pop_back();
  CHECK(!cell.auto_ratio().has_value());
}

TEST_CASE("conclusions follow from what was measured") {
  using enum remote_mode;
  using verdict = remote_conclusion::verdict;
  const auto fast_bulk =
      cell_with("lan", remote_sweep::operations, small(100),
                {{sync, 1}, {bulk, 0.1}, {async, 0.5}, {pipeline, 0.3}, {auto_, 0.105}});
  auto slow_bulk = fast_bulk;
  slow_bulk.rows[1].rounds = {0.4};
  CHECK(about(conclude({fast_bulk}), "many small").what == verdict::holds);
  CHECK(about(conclude({fast_bulk}), "best fixed mode").what == verdict::holds);
  const auto others = conclude({fast_bulk, slow_bulk});
  CHECK(about(others, "many small").what == verdict::does_not_hold);
  CHECK(about(others, "model of bulk").what == verdict::does_not_hold);
  CHECK(about(others, "model of bulk").figures.starts_with("1 of 2 cells within; most off -75 %"));
  CHECK(about(others, "falls behind").what == verdict::not_measured);
}
