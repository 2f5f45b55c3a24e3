// The processes of a chain. They report to the parent on stdout, one line each:
//   at ADDRESS      listening there, connected and ready for the next process
//   rate N          messages in the last second (subscriber)
//   done key=value  the end of the work; user_ns and system_ns are the processor time it took
// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks.hpp"

#include "kit/link_address.hpp"
#include "kit/process_usage.hpp"
#include "kit/rate_meter.hpp"
#include "stop_signal.hpp"
#include "stream/numbered_stream.hpp"
#include "stream/payloads.hpp"
#include "terminal.hpp"

#include <algorithm>
#include <memory>

#include <fmt/format.h>
#include <unistd.h>

#include <pubsub/endpoint.hpp>

namespace pubsub::tool {

namespace bench {

namespace {

constexpr const char* topic = "bench/chain";
constexpr std::chrono::seconds patience{15};
constexpr std::chrono::seconds silence_limit{20};

struct part_options {
  std::string part;
  std::string listen;
  std::string peer;
  double duration_s = 5;
  std::size_t payload_bytes = 100;
  std::string input;
  unsigned wire_version = 2;
  bool trees = false;

  message_form form() const { return trees ? message_form::tree : message_form::encoded; }
  endpoint_options for_endpoint() const {
    endpoint_options result;
    result.max_wire_version = static_cast<std::uint8_t>(wire_version);
    return result;
  }
};

void report(const std::string& line) {
  line_output out;
  out.add(line);
  out.flush();
}

exit_code open(endpoint& ep, const std::string& address) {
  auto place = listen_for_peers(ep, address);
  if (!place)
    return fail(place.error());
  report("at " + *place);
  return exit_code::ok;
}

// Processor time since the messages could begin to flow.
std::string usage_since(const processor_time& begin) {
  auto now = processor_time::now();
  return fmt::format(" user_ns={} system_ns={}", (now.user - begin.user).count(),
                     (now.system - begin.system).count());
}

exit_code join(endpoint& ep, const std::string& address) {
  peer_options options;
  options.timeout = patience;
  auto done = ep.peer(address, options);
  return done ? exit_code::ok : fail(done.error());
}

exit_code run_publisher(const part_options& options) {
  auto contents = options.input.empty()
                      ? expected<payloads>{payloads::synthetic(options.payload_bytes)}
                      : payloads::from_file(options.input);
  if (!contents)
    return fail(contents.error());
  if (contents->skipped() > 0)
    complain(fmt::format("{}: lines left out because they cannot be read: {}", options.input,
                         contents->skipped()));
  endpoint ep{options.for_endpoint()};
  if (auto failed = join(ep, options.peer); failed != exit_code::ok)
    return failed;
  auto out = ep.make_publisher(topic);
  if (!out.wait_for_subscribers(1, patience))
    return fail({errc::request_timeout, "no subscription came through the chain in 15 seconds"});
  numbered_publisher stream{out, *contents, 0, options.form()};
  const auto begin = processor_time::now();
  auto end = *deadline_after(options.duration_s);
  auto stride = std::clamp<std::size_t>(65'536 / (contents->size_bytes() + 1), 1, 64);
  bool open = true;
  while (open && clock::now() < end) // the clock is read once every few messages
    for (std::size_t i = 0; i < stride && open; ++i)
      open = stream.publish_next();
  stream.finish();
  auto unsent = ep.flush(patience);
  report(fmt::format("done published={} payload={} unsent={}", stream.published(),
                     contents->size_bytes(), unsent) +
         usage_since(begin));
  ep.close();
  return exit_code::ok;
}

// Everything until the end mark, and then what may still come late.
exit_code consume(subscriber& sub, numbered_consumer& consumer, rate_meter& meter) {
  constexpr std::size_t batch_messages = 4096;
  constexpr std::chrono::milliseconds late_limit{300};
  std::vector<data_message> batch;
  batch.reserve(batch_messages);
  while (!consumer.complete()) {
    batch.clear();
    auto limit = consumer.ended() ? std::chrono::nanoseconds{late_limit}
                                  : std::chrono::nanoseconds{silence_limit};
    if (sub.get_batch_for(batch, batch_messages, limit) != receive_status::received) {
      if (consumer.ended())
        break;
      return fail({errc::request_timeout, "no message came for 20 seconds"});
    }
    auto now = clock::now();
    if (!meter.started())
      meter.start(now);
    for (const auto& msg : batch)
      consumer.visit(msg);
    if (auto rate = meter.update(consumer.visited(), now))
      report(fmt::format("rate {:.0f}", *rate));
  }
  return exit_code::ok;
}

exit_code run_subscriber(const part_options& options) {
  endpoint ep{options.for_endpoint()};
  auto sub = ep.make_subscriber({topic});
  if (auto failed = open(ep, options.listen); failed != exit_code::ok)
    return failed;
  const auto begin = processor_time::now();
  numbered_consumer consumer{1, options.form()};
  rate_meter meter;
  if (auto failed = consume(sub, consumer, meter); failed != exit_code::ok)
    return failed;
  auto now = clock::now();
  meter.finish(consumer.visited(), now);
  auto result = consumer.result();
  auto seconds = std::chrono::duration<double>(now - meter.start_time()).count();
  auto text = fmt::format(
      "done delivered={} duplicated={} reordered={} missing={} unexpected={} mean={:.1f}",
      result.delivered, result.duplicated, result.reordered, result.missing,
      result.unexpected + consumer.strange(), static_cast<double>(result.delivered) / seconds);
  for (std::size_t i = 0; i < meter.samples().size(); ++i)
    text += fmt::format(" rate{}={:.1f}", i, meter.samples()[i]);
  report(text + usage_since(begin));
  ep.close();
  return exit_code::ok;
}

void wait_for_end_of_input() {
  char byte;
  while (::read(STDIN_FILENO, &byte, 1) > 0) {
  }
}

exit_code run_relay(const part_options& options) {
  endpoint ep{options.for_endpoint()};
  if (auto failed = join(ep, options.peer); failed != exit_code::ok)
    return failed;
  if (auto failed = open(ep, options.listen); failed != exit_code::ok)
    return failed;
  const auto begin = processor_time::now();
  wait_for_end_of_input();
  auto totals = ep.counters();
  report(fmt::format("done received={} forwarded={}", totals.received, totals.forwarded) +
         usage_since(begin));
  ep.close();
  return exit_code::ok;
}

exit_code run_part(const part_options& options) {
  if (options.part == "pub")
    return run_publisher(options);
  return options.part == "sub" ? run_subscriber(options) : run_relay(options);
}

} // namespace

} // namespace bench

void add_bench_chain_part(CLI::App& app, exit_code& outcome) {
  auto options = std::make_shared<bench::part_options>();
  auto command = app.add_subcommand("chain-part", "One process of a chain (started by chain)");
  command->group(""); // not shown
  command->add_option("--part", options->part)
      ->required()
      ->check(CLI::IsMember({"pub", "sub", "relay"}));
  command->add_option("--listen", options->listen);
  command->add_option("--peer", options->peer);
  command->add_option("--duration", options->duration_s);
  command->add_option("--payload", options->payload_bytes);
  command->add_option("--input", options->input);
  command->add_option("--wire-version", options->wire_version);
  command->add_flag("--trees", options->trees);
  command->callback([options, &outcome] { outcome = bench::run_part(*options); });
}

} // namespace pubsub::tool
