// The processes of remote execution that is measured. They are told what to do by lines on stdin,
// and report to the parent on stdout, one line each:
//   port N          what a server listens on
//   ready           it serves; or the client has begun
//   done key=value  a client, after "run ...": the measurement
//   failed WHY      instead of it
// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks.hpp"

#include "kit/child_report.hpp"
#include "kit/rate_meter.hpp"
#include "remote/remote_operations.hpp"
#include "remote/remote_work.hpp"
#include "station.hpp"
#include "terminal.hpp"

#include <deque>
#include <fstream>
#include <iostream>
#include <map>
#include <memory>
#include <stdexcept>

#include <fmt/format.h>

#include <pubsub/pattern/remote.hpp>

namespace pubsub::tool {

namespace bench {

namespace {

constexpr const char* service_name = "bench/remote";
constexpr std::size_t parallel_connections = 4;
constexpr std::chrono::seconds time_for_instances{20};
constexpr std::chrono::minutes longest_call{60};

struct part_options {
  std::string part;
  connection_options connection;
  std::string folder;
  std::size_t workers = 1;
};

// -- server --------------------------------------------------------------------------------------

/// The number of its page in each byte: a part of the wrong place shows.
bool write_served_file(const std::string& folder) {
  std::ofstream out{folder + "/" + served_file, std::ios::binary};
  std::string page(4096, '\0');
  for (std::size_t i = 0; i < served_bytes / page.size(); ++i) {
    page.assign(page.size(), static_cast<char>(i));
    out << page;
  }
  out.close();
  return !out.fail();
}

exit_code serve(const part_options& options) {
  station here{options.connection};
  if (here.outcome() != exit_code::ok)
    return here.outcome();
  if (!write_served_file(options.folder))
    return fail({errc::cannot_write_file, options.folder});
  const auto files = served_folder::open(options.folder);
  if (!files)
    return fail(files.error());
  service_options how;
  how.workers = options.workers;
  auto it = service::open(here.ep(), service_name, how);
  if (!it)
    return fail(it.error());
  const auto faop = [&files](const data_view& argument, data_writer& result) {
    return (*files)(argument, result);
  };
  for (const auto& done : {it->add("noop", noop), it->add("faop", faop), it->start()})
    if (!done)
      return fail(done.error());
  report_line("ready");
  wait_for_parent();
  return exit_code::ok;
}

// -- client --------------------------------------------------------------------------------------

/// Endpoints that are linked with the server, each by a connection of its own.
class connections {
public:
  connections(const connection_options& connection, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) {
      all_.emplace_back(connection.for_endpoint());
      if (const auto linked = connect(all_.back(), connection, peering::in_background);
          linked != exit_code::ok)
        throw std::runtime_error{"no connection to the server"};
    }
    for (std::size_t i = 1; i < n; ++i)
      more_.push_back(&all_[i]);
  }

  endpoint& first() { return all_.front(); }
  std::span<const endpoint* const> more() const { return more_; }
  link_counters counters() const {
    link_counters sum;
    for (const auto& each : all_) {
      const auto its = each.counters().links;
      sum.bytes_sent += its.bytes_sent;
      sum.bytes_received += its.bytes_received;
    }
    return sum;
  }

private:
  std::deque<endpoint> all_;
  std::vector<const endpoint*> more_;
};

std::size_t connections_of(remote_mode mode) {
  return mode == remote_mode::async || mode == remote_mode::auto_ ? parallel_connections : 1;
}

/// A client in one mode; several connections where calls may go in parallel.
class mode_client {
public:
  mode_client(const part_options& options, remote_mode mode)
      : at_(options.connection, connections_of(mode)), it_(open(at_, mode)) {}

  /// Throws std::runtime_error where an operation fails.
  remote_sample run(const remote_order& order) {
    if (!it_.wait_for_instances(1, time_for_instances))
      throw std::runtime_error{"no server within reach"};
    const auto arguments = arguments_of(order.what);
    const auto before = at_.counters();
    const auto begin = clock::now();
    std::vector<double> times;
    do {
      const auto start = clock::now();
      do_all(order, arguments);
      times.push_back(std::chrono::duration<double>(clock::now() - start).count());
    } while (std::chrono::duration<double>(clock::now() - begin).count() < order.least_s);
    const auto after = at_.counters();
    const auto repeats = static_cast<double>(times.size());
    return {rate_statistics::of(std::move(times)).median,
            static_cast<double>(after.bytes_sent - before.bytes_sent) / repeats,
            static_cast<double>(after.bytes_received - before.bytes_received) / repeats,
            it_.plan()};
  }

private:
  static remote open(connections& at, remote_mode mode) {
    remote_options options;
    options.mode = mode;
    options.timeout = longest_call;
    auto result = remote::open(at.first(), service_name, options, at.more());
    if (!result)
      throw std::runtime_error{result.error().message()};
    return std::move(*result);
  }

  void do_all(const remote_order& order, std::span<const std::byte> arguments) {
    const auto operation = to_string(order.what.operation);
    const auto how = order.mode == remote_mode::bulk ? grouping::in_bulk : grouping::by_mode;
    const auto each = arguments.size() / order.what.operations;
    for (std::size_t part = 0; part < order.what.parts; ++part) {
      const auto first = order.what.operations * part / order.what.parts;
      const auto end = order.what.operations * (part + 1) / order.what.parts;
      const auto share = arguments.subspan(first * each, (end - first) * each);
      take(it_.submit_all(operation, share, how), order.what);
    }
  }

  /// Lets go of each result when it was seen, as who uses them may.
  static void take(std::vector<remote_future> results, const remote_work& what) {
    for (auto& each : results) {
      const auto value = each.view();
      if (!value)
        throw std::runtime_error{value.error().message()};
      if (value->type() != data_type::string || value->as_string().size() != what.size_bytes)
        throw std::runtime_error{"a result is not what was asked for"};
      each = {};
    }
  }

  connections at_;
  remote it_;
};

/// Every mode has a client of its own, kept until the end: what `auto` has learned it knows.
class asking_client {
public:
  explicit asking_client(const part_options& options) : options_(options) {}

  exit_code run() {
    report_line("ready");
    for (std::string line; std::getline(std::cin, line);) {
      const auto order = remote_order::parse(line);
      if (!order)
        return fail({errc::invalid_argument, "'" + line + "' is no order"});
      obey(*order);
    }
    return exit_code::ok;
  }

private:
  void obey(const remote_order& order) {
    try {
      auto& client = clients_[order.mode];
      if (!client)
        client = std::make_unique<mode_client>(options_, order.mode);
      const auto x = client->run(order);
      report_line("done", fmt::format("seconds={:.9f} sent={:.1f} received={:.1f} mode={} bulk={} "
                                      "window={}",
                                      x.seconds, x.sent_bytes, x.received_bytes,
                                      static_cast<int>(x.plan.mode), x.plan.bulk_operations,
                                      x.plan.window_operations));
    } catch (const std::runtime_error& why) {
      report_line("failed", why.what());
    }
  }

  const part_options& options_;
  stop_signal stop_; // Ctrl-C is for the parent
  std::map<remote_mode, std::unique_ptr<mode_client>> clients_;
};

exit_code run_part(const part_options& options) {
  return options.part == "server" ? serve(options) : asking_client{options}.run();
}

} // namespace

} // namespace bench

void add_bench_remote_part(CLI::App& app, exit_code& outcome) {
  auto options = std::make_shared<bench::part_options>();
  auto* const command =
      app.add_subcommand("remote-part", "A server or a client (started by remote)");
  command->group(""); // not shown
  add_connection_options(*command, options->connection);
  command->add_option("--part", options->part)
      ->required()
      ->check(CLI::IsMember({"server", "client"}));
  command->add_option("--folder", options->folder);
  command->add_option("--workers", options->workers);
  command->callback([options, &outcome] { outcome = bench::run_part(*options); });
}

} // namespace pubsub::tool
