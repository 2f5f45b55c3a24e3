// The processes of versioned delivery that is measured. They are told what to do by lines on stdin,
// and report to the parent on stdout, one line each:
//   port N                what a replica listens on
//   ready                 the replica is a member; or the client is connected and warm
//   usage key=value       asked for by "usage"
//   done key=value        a client, after "go": the measurement
//   counted messages=N    a client, after "count": a few messages more
//   complete              a replica, after "until N": it has handed out so many
//   ended key=value       the end, at the end of stdin
// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks.hpp"

#include "kit/child_report.hpp"
#include "kit/process_usage.hpp"
#include "station.hpp"
#include "stream/latency_histogram.hpp"
#include "terminal.hpp"
#include "versioned/version_history.hpp"

#include <algorithm>
#include <atomic>
#include <iostream>
#include <memory>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include <pubsub/data_writer.hpp>
#include <pubsub/pattern/versioned.hpp>

namespace pubsub::tool {

namespace bench {

namespace {

constexpr const char* group_name = "bench/versioned";
constexpr std::chrono::seconds patience{20};
constexpr double warm_up_s = 0.1;
constexpr std::size_t handful = 64; // messages that are posted together, at most
constexpr std::size_t batch = 1'000;
constexpr std::size_t counted_bytes = 20'000'000; // of messages that are sent to count calls

struct part_options {
  std::string part;
  connection_options connection;
  std::string id;
  std::string scheme;
  std::size_t replicas = 3;
  std::size_t payload_bytes = 100;
  std::size_t window = versioned_group_options{}.window_messages;
  double duration_s = 1;
  std::size_t messages = 0;
  bool pipelined = false;
  std::string history_file;
  bool spoil = false;
};

/// Bytes are counted when a write has ended, which may be after the peer has answered them.
void report_usage(endpoint& ep) {
  (void)ep.flush(std::chrono::seconds{1});
  const auto cpu = std::chrono::duration<double, std::micro>(cpu_time()).count();
  report_line("usage", fmt::format("bytes={} switches={} cpu_us={:.0f}",
                                   ep.counters().links.bytes_sent, wake_ups(), cpu));
}

/// 0 for a void number.
std::uint64_t digest_of_id(const endpoint_id& id) {
  return id.is_nil() ? 0 : digest_of(std::as_bytes(std::span{id.bytes()}));
}

exit_code save(const std::string& file, const history& what) {
  if (file.empty())
    return exit_code::ok;
  const auto written = write_history(file, what);
  return written ? exit_code::ok : fail(written.error());
}

// -- replica -------------------------------------------------------------------------------------

class serving {
public:
  explicit serving(const part_options& options)
      : options_(options), here_(options.connection),
        it_(*replica::open(here_.ep(), group_name, settings())) {}

  exit_code run() {
    if (here_.outcome() != exit_code::ok)
      return here_.outcome();
    std::thread orders{[this] { obey(); }};
    while (const auto some = it_.get_batch(batch))
      take(*some);
    orders.join();
    if (const auto why = it_.failure())
      return fail(why);
    if (options_.spoil && !seen_.empty())
      seen_.erase(seen_.begin() + static_cast<std::ptrdiff_t>(seen_.size() / 2));
    const auto saved = save(options_.history_file, seen_);
    report_line("ended", fmt::format("handed_out={}", handed_out_.load()));
    return saved;
  }

private:
  replica_options settings() const {
    replica_options result;
    result.id = options_.id;
    result.group_size = options_.replicas;
    return result;
  }

  void take(const std::vector<versioned_message>& some) {
    if (!options_.history_file.empty())
      for (const auto& x : some)
        seen_.push_back({x.version.epoch, x.version.number, digest_of_id(x.client), x.client_number,
                         digest_of(x.value.bytes())});
    handed_out_ += some.size();
    report_if_complete();
  }

  // The orders of the parent, until it closes our stdin.
  void obey() {
    if (it_.wait_ready(patience))
      report_line("ready");
    for (std::string line; std::getline(std::cin, line);) {
      if (line == "usage")
        report_usage(here_.ep());
      else if (line.starts_with("until ")) {
        wanted_ = std::stoull(line.substr(6));
        report_if_complete();
      }
    }
    it_.close();
  }

  void report_if_complete() {
    if (handed_out_ >= wanted_ && !complete_.exchange(true))
      report_line("complete");
  }

  const part_options& options_;
  station here_;
  replica it_;
  history seen_;
  std::atomic<std::uint64_t> handed_out_{0};
  std::atomic<std::uint64_t> wanted_{UINT64_MAX};
  std::atomic<bool> complete_{false};
};

// -- client --------------------------------------------------------------------------------------

/// Texts of the same length, each with the number of its message.
class numbered_texts {
public:
  explicit numbered_texts(std::size_t payload_bytes) : payload_bytes_(payload_bytes) {
    std::string text(payload_bytes, 'x');
    for (std::size_t i = 0; i < payload_bytes; ++i)
      text[i] = static_cast<char>('a' + i % 26);
    data_writer writer;
    writer.write_string(text);
    bytes_ = writer.take();
  }

  std::span<const std::byte> operator()(std::uint64_t number) {
    auto* at = bytes_.data() + bytes_.size() - payload_bytes_;
    for (std::size_t i = 0; i < digits; ++i, number /= 10)
      at[digits - 1 - i] = static_cast<std::byte>('0' + number % 10);
    return bytes_;
  }

private:
  static constexpr std::size_t digits = 10;

  const std::size_t payload_bytes_;
  std::vector<std::byte> bytes_;
};

class sending_client {
public:
  explicit sending_client(const part_options& options)
      : options_(options), here_(options.connection),
        it_(*versioned_group::open(here_.ep(), group_name, settings())),
        texts_(options.payload_bytes), waiting_(2 * options.window + handful) {}

  exit_code run() {
    if (here_.outcome() != exit_code::ok)
      return here_.outcome();
    if (!it_.wait_for_replicas(options_.replicas, patience))
      return fail({errc::request_timeout, fmt::format("{} of {} replicas are members",
                                                      it_.replicas(), options_.replicas)});
    if (!send_for(warm_up_s, 0))
      return outcome_;
    report_line("ready");
    for (std::string line; std::getline(std::cin, line);)
      if (!obey(line))
        return outcome_;
    outcome_ = save(options_.history_file, acknowledged_);
    report_line("ended", fmt::format("acknowledged={}", it_.counters().acknowledged));
    return outcome_;
  }

private:
  struct posted {
    clock::time_point when;
    std::uint64_t digest = 0;
  };

  versioned_group_options settings() const {
    versioned_group_options result;
    result.scheme = parse_versioning(options_.scheme).value_or(result.scheme);
    result.replicas = options_.replicas;
    result.window_messages = options_.window;
    result.reports = completion_reports::all;
    return result;
  }

  bool obey(const std::string& order) {
    if (order == "usage")
      report_usage(here_.ep());
    else if (order == "go")
      return measure();
    else if (order == "count")
      return send_a_few();
    return true;
  }

  bool measure() {
    times_ = {};
    const auto before = it_.counters();
    const auto begin = clock::now();
    if (!send_for(options_.duration_s, options_.messages))
      return false;
    const auto seconds = std::chrono::duration<double>(clock::now() - begin).count();
    const auto after = it_.counters();
    auto us = [this](double part) { return static_cast<double>(times_.percentile(part)) / 1e3; };
    report_line("done",
                fmt::format("messages={} seconds={:.6f} p50_us={:.2f} p99_us={:.2f} "
                            "batches={} resent={}",
                            after.acknowledged - before.acknowledged, seconds, us(0.5), us(0.99),
                            after.batches - before.batches, after.resent - before.resent));
    return true;
  }

  bool send_a_few() {
    const auto most = counted_bytes / options_.payload_bytes;
    const auto n = options_.pipelined ? std::clamp<std::size_t>(most, 500, 20'000) : 300;
    if (!send_for(0, n))
      return false;
    report_line("counted", fmt::format("messages={}", n));
    return true;
  }

  /// For so long, or where a number of messages is given, so many; until all is acknowledged.
  bool send_for(double seconds, std::size_t messages) {
    const auto until = clock::now() + std::chrono::duration_cast<clock::duration>(
                                          std::chrono::duration<double>{seconds});
    const auto first = sent_;
    auto left = [&]() -> std::size_t {
      if (messages > 0)
        return messages - (sent_ - first);
      return clock::now() < until ? handful : 0;
    };
    while (const auto n = left())
      if (options_.pipelined ? !post(std::min(n, handful)) : !send())
        return false;
    while (it_.in_flight() > 0)
      if (const auto some = it_.take_completions_for(patience); some && !take(*some))
        return false;
    return take(it_.take_completions());
  }

  bool send() {
    const auto value = texts_(++sent_);
    const auto digest = digest_if_wanted(value);
    const auto begin = clock::now();
    const auto version = it_.send(value);
    if (!version)
      return give_up(version.error());
    record(begin);
    if (!options_.history_file.empty())
      acknowledged_.push_back(
          {version->epoch, version->number, digest_of_id(it_.id()), sent_, digest});
    return true;
  }

  bool post(std::size_t n) {
    batch_.clear();
    const auto now = clock::now();
    for (std::size_t i = 0; i < n; ++i) {
      const auto value = texts_(++sent_);
      batch_.insert(batch_.end(), value.begin(), value.end());
      waiting_[sent_ % waiting_.size()] = {now, digest_if_wanted(value)};
    }
    const auto last = it_.post_batch(batch_);
    if (!last)
      return give_up(last.error());
    return take(it_.take_completions());
  }

  bool take(const std::vector<versioned_completion>& some) {
    for (const auto& x : some) {
      if (x.error)
        return give_up(x.error);
      const auto& what = waiting_[x.client_number % waiting_.size()];
      record(what.when);
      if (!options_.history_file.empty())
        acknowledged_.push_back({x.version.epoch, x.version.number, digest_of_id(it_.id()),
                                 x.client_number, what.digest});
    }
    return true;
  }

  void record(clock::time_point since) {
    times_.record(static_cast<std::uint64_t>((clock::now() - since).count()));
  }

  std::uint64_t digest_if_wanted(std::span<const std::byte> value) const {
    return options_.history_file.empty() ? 0 : digest_of(value);
  }

  bool give_up(const error& why) {
    outcome_ = fail(why);
    return false;
  }

  const part_options& options_;
  station here_;
  versioned_group it_;
  numbered_texts texts_;
  std::vector<std::byte> batch_;
  std::vector<posted> waiting_; // by number
  std::uint64_t sent_ = 0;
  latency_histogram times_;
  history acknowledged_;
  exit_code outcome_ = exit_code::ok;
};

exit_code run_part(const part_options& options) {
  return options.part == "replica" ? serving{options}.run() : sending_client{options}.run();
}

} // namespace

} // namespace bench

void add_bench_versioned_part(CLI::App& app, exit_code& outcome) {
  auto options = std::make_shared<bench::part_options>();
  auto* const command =
      app.add_subcommand("versioned-part", "A replica or a client (started by versioned)");
  command->group(""); // not shown
  add_connection_options(*command, options->connection);
  command->add_option("--part", options->part)
      ->required()
      ->check(CLI::IsMember({"replica", "client"}));
  command->add_option("--id", options->id);
  command->add_option("--scheme", options->scheme);
  command->add_option("--replicas", options->replicas);
  command->add_option("--payload", options->payload_bytes);
  command->add_option("--window", options->window);
  command->add_option("--duration", options->duration_s);
  command->add_option("--messages", options->messages);
  command->add_flag("--pipelined", options->pipelined);
  command->add_option("--history", options->history_file);
  command->add_flag("--spoil", options->spoil);
  command->callback([options, &outcome] { outcome = bench::run_part(*options); });
}

} // namespace pubsub::tool
