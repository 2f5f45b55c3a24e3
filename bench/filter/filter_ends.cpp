// SPDX-License-Identifier: BSD-3-Clause
#include "filter/filter_ends.hpp"

#include "filter/filter_records.hpp"
#include "kit/child_report.hpp"
#include "kit/process_usage.hpp"
#include "support/tcp.hpp"
#include "terminal.hpp"

#include <algorithm>
#include <chrono>
#include <system_error>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include <pubsub/endpoint.hpp>

namespace pubsub::tool::bench {

namespace {

constexpr auto patience = std::chrono::seconds{60};
constexpr std::size_t most_at_a_time = 1'000;

/// The same for all processes of a machine.
std::int64_t now_ns() {
  return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds{1};
}

std::string uri_of(unsigned port) {
  return fmt::format("tcp://127.0.0.1:{}", port);
}

exit_code run_relay(const filter_end_options& options) {
  endpoint_options of_relay;
  of_relay.forwarding = forwarding::on;
  endpoint ep{of_relay};
  if (options.port != 0)
    if (const auto peered = ep.peer(uri_of(options.port)); !peered)
      return fail(peered.error());
  const auto port = ep.listen("tcp://127.0.0.1:0");
  if (!port)
    return fail(port.error());
  report_line("ready", fmt::format("port={}", *port));
  wait_for_parent();
  report_line("done", fmt::format("bytes={}", ep.counters().links.bytes_sent));
  return exit_code::ok;
}

expected<std::vector<subscriber>> subscribe(endpoint& ep, const filter_records& records,
                                            const filter_end_options& options) {
  std::vector<subscriber> result;
  if (options.conditions == 0) {
    result.push_back(ep.make_subscriber({records.topic}));
    return result;
  }
  for (unsigned i = 0; i < options.conditions; ++i) {
    const auto text = options.conditions > 1 ? one_of_many(i) : options.where;
    const auto what = condition_on(records, text);
    if (!what)
      return what.error();
    result.push_back(ep.make_subscriber({records.topic}, *what));
  }
  return result;
}

exit_code run_reader(const filter_end_options& options) {
  const auto records = read_records(options.input);
  if (!records)
    return fail(records.error());
  endpoint ep;
  auto from = subscribe(ep, *records, options);
  if (!from)
    return fail(from.error());
  if (const auto peered = ep.peer(uri_of(options.port)); !peered)
    return fail(peered.error());
  if (!from->back().wait_ready(patience))
    return fail({errc::request_timeout, "the relays do not know the subscriptions"});
  report_line("ready", "port=0");
  std::vector<data_message> batch;
  std::uint64_t received = 0;
  const auto end = std::chrono::steady_clock::now() + patience;
  for (std::size_t i = 0; received < options.records && i < from->size();) {
    batch.clear();
    const bool last = i + 1 == from->size();
    const auto wait = last ? end - std::chrono::steady_clock::now() : std::chrono::nanoseconds{};
    if ((*from)[i].get_batch_for(batch, most_at_a_time, wait) == receive_status::received)
      received += batch.size();
    else if (last || from->size() > 1)
      i = last ? from->size() : i + 1;
  }
  report_line("done", fmt::format("ns={} received={}", now_ns(), received));
  wait_for_parent();
  return exit_code::ok;
}

/// As many of the records in a row as each of the publishers has. They begin anew at their end.
void publish_share(endpoint& ep, const filter_records& records, const filter_end_options& options,
                   unsigned number) {
  auto to = ep.make_publisher(records.topic);
  const auto& all = records.encoded;
  const auto begin = options.records * number / options.publishers;
  const auto end = options.records * (number + 1) / options.publishers;
  auto at = static_cast<std::size_t>(begin % all.size());
  for (auto left = end - begin; left > 0; --left) {
    (void)to.publish(all[at]); // what is not taken, the reader misses
    at = at + 1 == all.size() ? 0 : at + 1;
  }
}

exit_code run_writer(const filter_end_options& options) {
  const auto records = read_records(options.input);
  if (!records)
    return fail(records.error());
  endpoint_options of_writer;
  if (options.node)
    of_writer.forwarding = forwarding::on;
  endpoint ep{of_writer};
  if (const auto peered = ep.peer(uri_of(options.port)); !peered)
    return fail(peered.error());
  if (!ep.wait_for_subscribers(records->topic, 1, patience))
    return fail({errc::request_timeout, "no record is wanted"});
  const auto cpu = cpu_time();
  const auto begin = now_ns();
  std::vector<std::thread> publishers;
  for (unsigned number = 0; number < options.publishers; ++number)
    publishers.emplace_back([&, number] { publish_share(ep, *records, options, number); });
  for (auto& each : publishers)
    each.join();
  const std::chrono::duration<double> spent = cpu_time() - cpu;
  if (ep.drain(patience) > 0)
    return fail({errc::request_timeout, "a relay does not read"});
  report_line("done", fmt::format("ns={} end={} cpu={} bytes={}", begin, now_ns(), spent.count(),
                                  ep.counters().links.bytes_sent));
  wait_for_parent();
  return exit_code::ok;
}

// -- lines of text over TCP ---------------------------------------------------------------------

exit_code run_syslog_reader(const filter_end_options& options) {
  ::bench::tcp_listener listener;
  report_line("ready", fmt::format("port={}", listener.port()));
  auto from = listener.accept();
  std::vector<char> buffer(std::size_t{1} << 18U);
  std::uint64_t lines = 0;
  while (lines < options.records) {
    const auto n = from.read_some(buffer.data(), buffer.size());
    if (n == 0)
      break;
    lines += static_cast<std::uint64_t>(
        std::count(buffer.begin(), buffer.begin() + static_cast<std::ptrdiff_t>(n), '\n'));
  }
  report_line("done", fmt::format("ns={} received={}", now_ns(), lines));
  wait_for_parent();
  return exit_code::ok;
}

/// A server that has just been started listens a moment later.
::bench::tcp_socket connect_to(unsigned port) {
  const auto end = std::chrono::steady_clock::now() + patience;
  while (true)
    try {
      return ::bench::tcp_socket::connect(static_cast<int>(port));
    } catch (const std::system_error&) {
      if (std::chrono::steady_clock::now() > end)
        throw;
      std::this_thread::sleep_for(std::chrono::milliseconds{20});
    }
}

exit_code run_syslog_writer(const filter_end_options& options) {
  constexpr std::size_t bytes_a_write = 64 * 1024;
  const auto records = read_records(options.input);
  if (!records)
    return fail(records.error());
  auto to = connect_to(options.port);
  const auto cpu = cpu_time();
  const auto begin = now_ns();
  std::string text;
  for (std::uint64_t i = 0; i < options.records; ++i) {
    text += "<14>Nov 27 12:00:00 sensor conn: " + records->lines[i % records->lines.size()] + "\n";
    if (text.size() < bytes_a_write && i + 1 < options.records)
      continue;
    to.write_all(text.data(), text.size());
    text.clear();
  }
  const std::chrono::duration<double> spent = cpu_time() - cpu;
  report_line("done", fmt::format("ns={} end={} cpu={}", begin, now_ns(), spent.count()));
  wait_for_parent();
  return exit_code::ok;
}

} // namespace

std::string one_of_many(unsigned n) {
  return fmt::format("id.orig_p == {}/tcp", n + 1);
}

exit_code run_filter_end(const filter_end_options& options) {
  try {
    if (options.role == "relay")
      return run_relay(options);
    if (options.role == "reader")
      return run_reader(options);
    if (options.role == "writer")
      return run_writer(options);
    return options.role == "syslog-reader" ? run_syslog_reader(options)
                                           : run_syslog_writer(options);
  } catch (const std::exception& problem) {
    complain(problem.what());
    return exit_code::connect;
  }
}

} // namespace pubsub::tool::bench
