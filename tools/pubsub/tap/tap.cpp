// SPDX-License-Identifier: BSD-3-Clause
#include "commands.hpp"

#include "connection.hpp"
#include "json_object.hpp"
#include "receive_loop.hpp"
#include "stop_signal.hpp"
#include "tap/tap_model.hpp"
#include "terminal.hpp"

#include <algorithm>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <memory>

#include <fmt/format.h>
#include <unistd.h>

#include <pubsub/endpoint.hpp>

namespace pubsub::tool {

namespace {

struct tap_options {
  std::vector<std::string> topics;
  connection_options connection;
  tap_limits limits;
  std::optional<std::uint64_t> count;
  std::optional<double> seconds;
  std::size_t shown_bytes = 100;
  bool summary = false;
  bool json = false;
};

/// Enough for a moment in which the terminal is slow, and little to hold.
constexpr std::size_t tap_queue_messages = 1000;
constexpr std::size_t tap_topics_in_table = 10;
constexpr std::chrono::seconds between_reports{5};

/// Of a text not more than some bytes, and whole characters.
std::string first_bytes(const std::string& text, std::size_t most) {
  auto end = std::min(most, text.size());
  while (end > 0 && end < text.size() && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80)
    --end;
  return text.substr(0, end);
}

std::string message_line(const data_message& msg, std::size_t size, std::size_t most_bytes) {
  const auto from = get_publishing_endpoint(msg);
  const auto text = to_string(get_data(msg));
  const auto shown = first_bytes(text, most_bytes);
  return fmt::format("{} {} {} B from {}: {}{}", time_of_day(), printable(get_topic(msg)), size,
                     from ? to_string(*from).substr(0, 8) : "?", printable(shown),
                     shown.size() < text.size() ? "..." : "");
}

std::string message_json(const data_message& msg, std::size_t size, std::size_t most_bytes) {
  json_object result;
  result.add("time", time_of_day()).add("topic", printable(get_topic(msg))).add("bytes", size);
  if (const auto from = get_origin(msg))
    result.add("origin", to_string(from->endpoint))
        .add("stream", from->stream)
        .add("sequence", from->sequence);
  const auto text = to_string(get_data(msg));
  const auto shown = first_bytes(text, most_bytes);
  return result.add("value", printable(shown)).add("cut", shown.size() < text.size()).text();
}

class tap_session {
public:
  tap_session(const tap_options& options, subscriber& sub)
      : options_(options), sub_(sub), model_(options.limits, clock::now()) {}

  exit_code run(const stop_signal& stop) {
    const auto end = deadline_after(options_.seconds);
    auto report_at = clock::now() + between_reports;
    for (;;) {
      const auto until = end ? std::min(*end, report_at) : report_at;
      const auto why =
          receive_until(sub_, stop, until, [this](const auto& batch) { return take(batch); });
      if (why != receive_end::out_of_time || until == end)
        break;
      report();
      report_at += between_reports;
    }
    report_end();
    const bool missing = options_.count && counted() < *options_.count;
    return missing && !stop.requested() ? exit_code::timeout : exit_code::ok;
  }

private:
  /// False once there is nothing left to do.
  bool take(const std::vector<data_message>& batch) {
    const auto now = clock::now();
    for (const auto& msg : batch) {
      const auto size = get_view(msg).bytes().size();
      if (model_.take(get_topic(msg), size, now) && !options_.summary)
        out_.add((options_.json ? message_json : message_line)(msg, size, options_.shown_bytes));
      if (options_.count && counted() >= *options_.count)
        break;
    }
    return out_.flush() && !(options_.count && counted() >= *options_.count);
  }

  /// What `--count` counts.
  std::uint64_t counted() const { return options_.summary ? model_.came() : model_.shown(); }

  std::uint64_t dropped() const { return sub_.counters().dropped(); }
  std::uint64_t missed() const { return sub_.counters().missed; }

  /// How it goes, for people who watch.
  void report() {
    if (!stderr_is_terminal())
      return;
    complain(model_.summary(dropped(), missed()));
    if (options_.summary)
      fmt::print(stderr, "{}", model_.table(tap_topics_in_table, clock::now()));
  }

  void report_end() {
    const auto now = clock::now();
    complain(model_.summary(dropped(), missed()));
    if (!options_.summary)
      fmt::print(stderr, "{}", model_.table(tap_topics_in_table, now));
    else if (options_.json)
      report_line(model_.json(dropped(), missed(), now));
    else
      fmt::print("{}", model_.table(SIZE_MAX, now));
  }

  const tap_options& options_;
  subscriber& sub_;
  tap_model model_;
  line_output out_;
};

exit_code run_tap(tap_options& options) {
  if (options.connection.peers.empty()) {
    complain("tap needs at least one --peer");
    return exit_code::usage;
  }
  if (options.summary)
    options.limits.shown_per_s = 0;
  std::signal(SIGTSTP, SIG_IGN); // what is stopped reads nothing, and its relay would have to wait
  stop_signal stop;
  auto quiet = options.connection.for_endpoint();
  quiet.forwarding = forwarding::off;
  endpoint ep{quiet};
  auto sub = ep.make_subscriber(filter{options.topics}, {.policy = overflow_policy::drop_oldest,
                                                         .capacity_messages = tap_queue_messages});
  if (auto failed = connect(ep, options.connection, peering::wait); failed != exit_code::ok)
    return failed;
  return tap_session{options, sub}.run(stop);
}

/// `1/100` or `100`: 100.
std::uint64_t read_sample(const std::string& text) {
  const auto number = std::string_view{text}.substr(text.starts_with("1/") ? 2 : 0);
  std::uint64_t result = 0;
  const auto* const end = number.data() + number.size();
  const auto [at, failure] = std::from_chars(number.data(), end, result);
  if (failure != std::errc{} || at != end || result == 0)
    throw CLI::ValidationError("--sample", "1/N is expected, as in 1/100");
  return result;
}

constexpr const char* tap_examples = R"(Examples:
  pubsub tap zeek/ --peer 127.0.0.1:9999                   at most 10 messages a second of those that come
  pubsub tap zeek/ --peer 127.0.0.1:9999 --sample 1/1000   every thousandth
  pubsub tap --peer 127.0.0.1:9999 --summary --seconds 10  which topics there are, with rates
Holds nobody back: what it does not read in time is dropped here, and counted. It is a client, so it
relays nothing. Ends on Ctrl-C or SIGTERM.)";

} // namespace

void add_tap(CLI::App& app, exit_code& outcome) {
  auto options = std::make_shared<tap_options>();
  auto command =
      app.add_subcommand("tap", "Look at live messages without holding their publishers back");
  command->add_option("topic", options->topics, "Topic prefixes; everything if none is given")
      ->type_name("PREFIX");
  add_peer_options(*command, options->connection);
  command->get_option("--peer")->allow_extra_args(false); // what follows its value is a topic
  command->add_option("--rate", options->limits.shown_per_s, "Messages shown a second, at most")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command
      ->add_option_function<std::string>(
          "--sample",
          [options](const std::string& text) { options->limits.one_of = read_sample(text); },
          "Look at every N-th message only")
      ->type_name("1/N");
  command
      ->add_option("--count", options->count,
                   "End after so many were shown; with --summary: after so many came")
      ->check(CLI::PositiveNumber);
  command
      ->add_option("--seconds", options->seconds,
                   "End after so many seconds; with status 4 if --count was not reached")
      ->check(CLI::PositiveNumber);
  command
      ->add_option("--bytes", options->shown_bytes,
                   "How much is shown of the text of a message, at most")
      ->capture_default_str();
  command->add_flag("--summary", options->summary,
                    "Show no messages, and at the end a table of all topics with rates");
  command->add_flag("--json", options->json, "Print JSON objects, one a line");
  command->footer(tap_examples);
  command->callback([options, &outcome] {
    if (options->topics.empty())
      options->topics.emplace_back();
    outcome = run_tap(*options);
  });
}

} // namespace pubsub::tool
