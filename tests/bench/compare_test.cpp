// SPDX-License-Identifier: BSD-3-Clause
#include <doctest/doctest.h>

#include <initializer_list>

#include "compare/compare_report.hpp"

using namespace pubsub::tool::bench;

namespace {

// A rate of 0 stands for a round without figures.
compare_row row_of(part role, std::initializer_list<double> rates) {
  compare_row row;
  row.who.role = role;
  for (auto rate : rates) {
    compare_sample sample;
    sample.rate = rate;
    sample.status = rate > 0 ? compare_sample::state::measured : compare_sample::state::unavailable;
    sample.note = rate > 0 ? "" : "not installed";
    row.samples.push_back(sample);
  }
  return row;
}

} // namespace

TEST_CASE("a ratio is taken within each round, so that drift cancels out") {
  auto limit = row_of(part::limit, {100, 10, 1000});
  auto ours = row_of(part::ours, {50, 5, 500});
  CHECK(median_ratio(&ours, &limit) == 0.5);
  CHECK(median_ratio(&limit, &ours) == 2.0);
}

TEST_CASE("rounds without figures on one side count for no ratio") {
  auto limit = row_of(part::limit, {100, 0, 100});
  auto ours = row_of(part::ours, {50, 99, 0});
  CHECK(median_ratio(&ours, &limit) == 0.5);
  auto nothing = row_of(part::peer, {0, 0, 0});
  CHECK_FALSE(median_ratio(&nothing, &limit));
  CHECK_FALSE(median_ratio(nullptr, &limit));
}

TEST_CASE("a row without figures says why") {
  auto missing = row_of(part::peer, {0, 0});
  CHECK(missing.status() == "not installed");
  CHECK_FALSE(missing.rate());
  auto failed = missing;
  failed.samples[1].status = failed.samples[0].status = compare_sample::state::failed;
  failed.samples[0].note = "signal 9";
  CHECK(failed.status() == "failed: signal 9");
  CHECK(row_of(part::peer, {1, 2}).status() == "measured");
  CHECK(row_of(part::peer, {}).status() == "not run");
}

TEST_CASE("the line of a peer's program is read") {
  auto x = read_peer_report(R"({"peer":"P","version":"4.3","msgs_per_s":2.5e6,"published":10,)"
                            R"("delivered":8,"lost":2,"disordered":1,"cpu_ns":12.5})");
  CHECK(x.measured());
  CHECK(x.rate == 2.5e6);
  CHECK(x.version == "4.3");
  CHECK(x.published == 10);
  CHECK(x.delivered == 8);
  CHECK(x.lost == 2);
  CHECK(x.disordered == 1);
  CHECK(x.cpu_ns == 12.5);
}

TEST_CASE("a peer that cannot be measured is unavailable, one that says nothing has failed") {
  auto x = read_peer_report(R"({"peer":"P","unavailable":"no server"})");
  CHECK(x.status == compare_sample::state::unavailable);
  CHECK(x.note == "no server");
  for (auto text : {"", "hello", R"({"peer":"P"})", R"({"msgs_per_s":})", R"({"version":"4)"})
    CHECK(read_peer_report(text).status == compare_sample::state::failed);
}

TEST_CASE("our own processor time is a number, or the median of the runs") {
  auto x = read_own_report(R"({"results":[{"msgs_per_s":{"samples":[1]},"cpu_ns":7.5}]})");
  CHECK(x.cpu_ns == 7.5);
  x = read_own_report(R"({"results":[{"msgs_per_s":{"median":1,"samples":[1]},"relay_cpu_ns":)"
                      R"({"median":3},"cpu_ns":{"median":9,"min":8}}]})");
  CHECK(x.cpu_ns == 9);
  CHECK(x.relay_cpu_ns == 3);
  CHECK(read_own_report(R"({"samples":[1],"relay_cpu_ns":null,"cpu_ns":2})").relay_cpu_ns == 0);
  CHECK(read_own_report(R"({"samples":[1]})").cpu_ns == 0);
}

TEST_CASE("rounds that tell no processor time count for none") {
  auto row = row_of(part::peer, {1, 2, 3});
  CHECK_FALSE(row.cpu_ns());
  row.samples[0].cpu_ns = 4;
  row.samples[2].cpu_ns = 8;
  CHECK(row.cpu_ns()->median == 6);
}

TEST_CASE("our own rate is the mean of the run's seconds") {
  auto x = read_own_report(R"({"machine":{"version":"0.1.0"},"results":[{"msgs_per_s":{"median":3,)"
                           R"("min":1,"max":8,"samples":[1,3,8]},"published":12,"delivered":11,)"
                           R"("dropped":1,"duplicated":2,"reordered":3}]})");
  CHECK(x.measured());
  CHECK(x.rate == 4);
  CHECK(x.published == 12);
  CHECK(x.lost == 1);
  CHECK(x.disordered == 5);
  CHECK_FALSE(read_own_report(R"({"samples":[]})").measured());
  CHECK_FALSE(read_own_report("").measured());
}
