// SPDX-License-Identifier: BSD-3-Clause
#include "remote/remote_speed.hpp"

#include "compare/compare_run.hpp"
#include "kit/report.hpp"
#include "remote/remote_site.hpp"
#include "stream/bare_ping_pong.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace pubsub::tool::bench {

namespace {

using verdict = remote_conclusion::verdict;
using speed_rows = std::vector<remote_speed_row>;

constexpr std::size_t small_bytes = 24;
constexpr std::size_t large_bytes = 1'000'000;
constexpr double run_limit_s = 120;
constexpr const char* ours = "libpubsub";

/// A row, and how it is measured.
struct contender {
  remote_speed_row row;
  remote_order order;   ///< of ours
  contestant program{}; ///< of others; with no name: none
};

class speed_run {
public:
  speed_run(const remote_speed_options& options, const stop_signal& stop)
      : options_(options), stop_(stop), folder_(find_peers(options.peers_dir)), bare_(stop),
        site_("loopback", options.workers, stop) {
    add_ours("bulk", remote_mode::bulk, operation_kind::noop, 100'000, small_bytes);
    add_ours("pipeline", remote_mode::pipeline, operation_kind::noop, 100'000, small_bytes);
    add_program("NATS", "pipeline", "remote_nats", small_bytes, {"--relays", "1"});
    add_program("libzmq", "pipeline", "remote_zmq", small_bytes, {});
    add_ours("sync", remote_mode::sync, operation_kind::noop, 200, small_bytes);
    add({{"bare TCP", "sync", operation_kind::noop, small_bytes, {}, {}}, {}, {}});
    add_ours("sync", remote_mode::sync, operation_kind::faop, 20, large_bytes);
    add_program("bare sendfile", "sync", "bare_sendfile", large_bytes, {"--pattern", "single"});
    add_ours("bulk", remote_mode::bulk, operation_kind::faop, 50, large_bytes);
    add_ours("pipeline", remote_mode::pipeline, operation_kind::faop, 50, large_bytes);
    add_program("bare sendfile", "pipeline", "bare_sendfile", large_bytes, {"--pattern", "stream"});
  }

  speed_rows run() {
    for (unsigned round = 1; round <= options_.rounds; ++round)
      for (auto& each : all_)
        if (each.row.note.empty())
          measure(each, round);
    speed_rows result;
    for (auto& each : all_)
      result.push_back(std::move(each.row));
    return result;
  }

private:
  void add(contender x) { all_.push_back(std::move(x)); }

  void add_ours(const char* name, remote_mode mode, operation_kind kind, std::size_t n,
                std::size_t size) {
    remote_work what;
    what.operation = kind;
    what.operations = n;
    what.size_bytes = size;
    add({{ours, name, kind, size, {}, {}}, {mode, what, options_.duration_s}, {}});
  }

  void add_program(const char* name, const char* mode, const char* file, std::size_t size,
                   std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"--setup", "chain", "--payload", std::to_string(size),
                                       "--duration", fmt::format("{}", options_.duration_s)});
    const auto kind = size == small_bytes ? operation_kind::noop : operation_kind::faop;
    add({{name, mode, kind, size, {}, {}},
         {},
         {name, mode, part::peer, (folder_ / file).string(), std::move(arguments)}});
  }

  void measure(contender& each, unsigned round) {
    auto& row = each.row;
    const auto rate = each.program.name.empty() ? own_rate(each) : rate_of_program(each);
    if (row.note.empty())
      row.rates.push_back(rate);
    if (options_.progress)
      fmt::print(stderr, "round {}/{}: {} {} {}: {}\n", round, options_.rounds, row.who, row.mode,
                 to_string(row.operation),
                 row.note.empty() ? fmt::format("{:.0f}/s", rate) : row.note);
  }

  double own_rate(contender& each) {
    if (each.row.who != ours) {
      const auto us = bare_.p50_us(small_bytes, std::min(0.3, options_.duration_s));
      if (us <= 0)
        each.row.note = "failed";
      return us > 0 ? 1e6 / us : 0;
    }
    const auto sample = site_.run(each.order, run_limit_s);
    return static_cast<double>(each.order.what.operations) / sample.seconds;
  }

  double rate_of_program(contender& each) const {
    const auto sample = run_contestant(each.program, options_.duration_s, stop_);
    if (!sample.measured())
      each.row.note = sample.note.empty() ? "failed" : sample.note;
    return sample.rate;
  }

  const remote_speed_options& options_;
  const stop_signal& stop_;
  const std::filesystem::path folder_;
  bare_ping_pong bare_;
  remote_site site_;
  std::vector<contender> all_;
};

/// 0 where it was not measured.
double rate_in(const speed_rows& rows, std::string_view who, std::string_view mode,
               operation_kind kind) {
  for (const auto& row : rows)
    if (row.who == who && row.mode == mode && row.operation == kind)
      return row.median();
  return 0;
}

remote_conclusion at_least(const std::string& claim, double got, double wanted,
                           std::string figures) {
  if (!(got > 0) || !std::isfinite(got))
    return {claim, verdict::not_measured, "no figure"};
  return {claim, got >= wanted ? verdict::holds : verdict::does_not_hold, std::move(figures)};
}

} // namespace

std::string remote_speed_row::status() const {
  return note.empty() ? "measured" : note;
}

std::vector<remote_speed_row> run_remote_speed(const remote_speed_options& options,
                                               const stop_signal& stop) {
  try {
    auto rows = speed_run{options, stop}.run();
    return stop.requested() ? speed_rows{} : rows;
  } catch (const remote_failure& why) {
    if (why.what_kind == remote_failure::kind::interrupted)
      return {};
    remote_speed_row row;
    row.who = ours;
    row.mode = "all";
    row.note = why.what();
    return {row};
  }
}

void print_speed(const std::vector<remote_speed_row>& rows) {
  fmt::print("\nplain loopback, operations per second\n  {:<14} {:<9} {:<5} {:>9} {:>12} {:>12} "
             "{:>12}\n",
             "", "mode", "", "bytes", "median", "min", "max");
  for (const auto& row : rows) {
    const auto rate = rate_statistics::of(row.rates);
    fmt::print("  {:<14} {:<9} {:<5} {:>9} ", row.who, row.mode, to_string(row.operation),
               row.size_bytes);
    if (row.rates.empty())
      fmt::print("{}\n", row.status());
    else
      fmt::print("{:>12.0f} {:>12.0f} {:>12.0f}\n", rate.median, rate.min, rate.max);
  }
}

std::vector<json_object> describe(const std::vector<remote_speed_row>& rows) {
  std::vector<json_object> list;
  for (const auto& row : rows) {
    remote_work what;
    what.operation = row.operation;
    what.size_bytes = row.size_bytes;
    const auto seconds = row.rates.empty() ? NAN : 1 / row.median();
    list.push_back(describe_remote("speed", "loopback", what, row.mode, seconds, NAN));
    list.back()
        .add("who", row.who)
        .add("status", row.status())
        .add("operations_per_s", describe(rate_statistics::of(row.rates)));
  }
  return list;
}

std::vector<remote_conclusion> conclude(const std::vector<remote_speed_row>& rows) {
  constexpr auto noops = operation_kind::noop;
  constexpr auto faops = operation_kind::faop;
  const auto bulk = rate_in(rows, ours, "bulk", noops);
  const auto stream = rate_in(rows, ours, "pipeline", noops);
  const auto sync = rate_in(rows, ours, "sync", noops);
  const auto bare = rate_in(rows, "bare TCP", "sync", noops);
  const auto nats = rate_in(rows, "NATS", "pipeline", noops);
  const auto zmq = rate_in(rows, "libzmq", "pipeline", noops);
  const auto files =
      std::max(rate_in(rows, ours, "pipeline", faops), rate_in(rows, ours, "bulk", faops));
  const auto sent = rate_in(rows, "bare sendfile", "pipeline", faops);
  return {
      at_least("ours: at least 1,000,000 NOOP/s in bulk", bulk, 1e6, fmt::format("{:.0f}/s", bulk)),
      at_least("ours: at least 300,000 NOOP/s in a pipeline", stream, 3e5,
               fmt::format("{:.0f}/s", stream)),
      at_least("ours: sync takes at most twice a bare TCP ping-pong", sync / bare, 0.5,
               fmt::format("{:.1f} us, {:.1f} us bare: {:.2f} times", 1e6 / sync, 1e6 / bare,
                           bare / sync)),
      at_least("ours: a pipeline does 1.5 times what the better peer does",
               stream / std::max(nats, zmq), 1.5,
               fmt::format("{:.0f}/s; NATS {:.0f}/s, libzmq {:.0f}/s: {:.2f} times", stream, nats,
                           zmq, stream / std::max(nats, zmq))),
      at_least("ours: files of 1 MB at half the rate of a bare sendfile(2)", files / sent, 0.5,
               fmt::format("{:.0f} MB/s of {:.0f} MB/s: {:.2f} times", files, sent, files / sent))};
}

} // namespace pubsub::tool::bench
