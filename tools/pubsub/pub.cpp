// SPDX-License-Identifier: BSD-3-Clause
#include "commands.hpp"

#include "connection.hpp"
#include "pub_sources.hpp"
#include "stop_signal.hpp"
#include "terminal.hpp"
#include "wait_interest.hpp"

#include <array>
#include <memory>
#include <unordered_map>

#include <fmt/format.h>

#include <pubsub/endpoint.hpp>

namespace pubsub::tool {

namespace {

struct pub_options {
  connection_options connection;
  source_options source;
  std::optional<std::uint64_t> count;
  std::optional<double> rate;
  double timeout_s = 30;
  std::size_t wait_subscribers = 1;
};

// Sends what a source gives, and keeps the books.
class sender {
public:
  sender(endpoint& ep, message_source& source, const pub_options& options, const stop_signal& stop)
      : ep_(ep), source_(source), options_(options), stop_(stop) {}

  exit_code run() {
    while (!done() && !stop_.requested()) {
      if (!source_.lines().buffered() &&
          wait_readable(source_.lines().fd(), stop_, {}) == wake::stopped)
        break;
      auto message = source_.next();
      if (!message) {
        skipped_.add(message.error());
        continue;
      }
      if (!*message) {
        if (options_.source.mode == reading::whole_file || wait_for_growth() == wake::stopped)
          break;
        continue;
      }
      if (auto failed = first_wait((*message)->topic); failed != exit_code::ok)
        return failed;
      send(std::move(**message));
    }
    return flush();
  }

  void print_summary() const {
    auto n = [&](publish_result result) { return results_[static_cast<std::size_t>(result)]; };
    auto text = fmt::format("sent {}", n(publish_result::taken) + n(publish_result::dropped));
    auto add = [&](const char* what, std::uint64_t value) {
      if (value > 0)
        text += fmt::format(", {} {}", what, value);
    };
    add("of them dropped by a full queue", n(publish_result::dropped));
    add("wanted by nobody", n(publish_result::unwanted));
    add("refused", n(publish_result::refused));
    add("column announcements", schemas_);
    add("still queued at the end", unsent_);
    fmt::print(stderr, "{}, skipped {}\n", text, skipped_.summary());
  }

  bool nothing_readable() const { return skipped_.total() > 0 && handled_ == 0; }

private:
  bool done() const { return options_.count && handled_ >= *options_.count; }

  exit_code first_wait(const std::string& topic) {
    if (waited_ || options_.wait_subscribers == 0)
      return exit_code::ok;
    waited_ = true;
    auto prefix = source_.wait_prefix();
    const auto& wanted = prefix.empty() ? topic : prefix;
    auto end = deadline_after(options_.timeout_s);
    if (wait_for_interest(ep_, wanted, options_.wait_subscribers, stop_, end) != wake::timeout)
      return exit_code::ok;
    complain(fmt::format("{} of {} subscribers for {} after {} seconds", ep_.subscribers(wanted),
                         options_.wait_subscribers, wanted, options_.timeout_s));
    return exit_code::timeout;
  }

  wake wait_for_growth() {
    constexpr double look_again_s = 0.1;
    return wait_readable(-1, stop_, deadline_after(look_again_s));
  }

  void send(outgoing message) {
    constexpr std::size_t most_publishers = 1024;
    if (options_.rate && handled_ > 0)
      wait_readable(-1, stop_,
                    started_ + std::chrono::duration_cast<clock::duration>(
                                   std::chrono::duration<double>{handled_ / *options_.rate}));
    else if (handled_ == 0)
      started_ = clock::now();
    auto known = publishers_.find(message.topic);
    if (known == publishers_.end() && publishers_.size() < most_publishers)
      known = publishers_.emplace(message.topic, ep_.make_publisher(message.topic)).first;
    auto result = known != publishers_.end() ? known->second.publish(std::move(message.value))
                                             : ep_.publish(message.topic, std::move(message.value));
    if (message.what == outgoing::kind::schema) {
      ++schemas_;
      return;
    }
    ++handled_;
    ++results_[static_cast<std::size_t>(result)];
  }

  exit_code flush() {
    if (stop_.requested()) {
      unsent_ = ep_.flush(std::chrono::nanoseconds{0});
      return exit_code::ok;
    }
    unsent_ = ep_.flush(left_until(deadline_after(options_.timeout_s)));
    if (unsent_ == 0)
      return exit_code::ok;
    complain(
        fmt::format("{} messages could not be sent in {} seconds", unsent_, options_.timeout_s));
    return exit_code::timeout;
  }

  endpoint& ep_;
  message_source& source_;
  const pub_options& options_;
  const stop_signal& stop_;
  std::unordered_map<std::string, publisher> publishers_;
  skip_log skipped_;
  std::array<std::uint64_t, 8> results_{}; // by publish_result
  std::uint64_t handled_ = 0;
  std::uint64_t schemas_ = 0;
  std::size_t unsent_ = 0;
  bool waited_ = false;
  clock::time_point started_;
};

exit_code run_pub(const pub_options& options) {
  if (options.connection.listen.empty() && options.connection.peers.empty()) {
    complain("pub needs at least one --listen or --peer");
    return exit_code::usage;
  }
  if (options.source.text && options.source.topic.empty()) {
    complain("--text needs --topic");
    return exit_code::usage;
  }
  if (options.source.mode == reading::follow && options.source.zeek_log.empty() &&
      options.source.zeek_events.empty()) {
    complain("--follow needs --zeek-log or --zeek-events");
    return exit_code::usage;
  }
  auto source = open_source(options.source);
  if (!source)
    return fail(source.error());
  stop_signal stop;
  auto settings = options.connection.for_endpoint();
  if (!(*source)->wait_prefix().empty()) // only relays are told of subscriptions below a topic
    settings.forwarding = forwarding::on;
  endpoint ep{settings};
  if (auto failed = connect(ep, options.connection, peering::wait); failed != exit_code::ok)
    return failed;
  sender out{ep, **source, options, stop};
  exit_code outcome;
  {
    close_on_stop guard{ep, stop};
    outcome = out.run();
  }
  ep.close();
  out.print_summary();
  return outcome == exit_code::ok && out.nothing_readable() ? exit_code::usage : outcome;
}

constexpr const char* pub_examples = R"(Examples:
  pubsub pub --peer 127.0.0.1:9999 --zeek-log conn.log
      every record as event log_conn on topic zeek/records/conn; prints "sent 1333, skipped 0"
  pubsub pub --peer 127.0.0.1:9999 --zeek-log conn.log --follow
      goes on with what Zeek appends, also after rotation
  pubsub pub --peer 127.0.0.1:9999 --zeek-events events.jsonl
      script events on topics zeek/events/NAME
  echo '{"@data-type":"count","data":42}' | pubsub pub --peer 127.0.0.1:9999 --topic /test
      values in JSON; with --text every line is a string; without --topic every line is a data message
A line that cannot be read is reported with file and line, counted, and the rest goes on. Waits
for a subscriber first, so that nothing is sent to nobody.)";

void add_source_options(CLI::App& command, pub_options& options) {
  auto& source = options.source;
  command.add_option("--topic", source.topic, "Topic of the lines on standard input");
  command.add_flag("--text", source.text, "Lines are strings, not JSON");
  auto log =
      command
          .add_option("--zeek-log", source.zeek_log, "Send the records of a Zeek log, TSV or JSON")
          ->type_name("FILE");
  auto events = command
                    .add_option("--zeek-events", source.zeek_events,
                                "Send a dump of script events (JSON lines)")
                    ->type_name("FILE");
  log->excludes(events);
  command.add_flag_callback(
      "--follow", [&source] { source.mode = reading::follow; },
      "Wait for what is appended to the file");
}

} // namespace

void add_pub(CLI::App& app, exit_code& outcome) {
  auto options = std::make_shared<pub_options>();
  auto command = app.add_subcommand("pub", "Publish lines, Zeek logs or Zeek events");
  add_connection_options(*command, options->connection);
  add_source_options(*command, *options);
  command->add_option("--count", options->count, "End after this many messages")
      ->check(CLI::PositiveNumber);
  command->add_option("--rate", options->rate, "Messages a second at most")
      ->check(CLI::PositiveNumber);
  command
      ->add_option("--timeout", options->timeout_s,
                   "Seconds to wait for subscribers, and for sending at the end")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command
      ->add_option("--wait-subscribers", options->wait_subscribers,
                   "Subscribers or peers to wait for first")
      ->capture_default_str();
  command->footer(pub_examples);
  command->callback([options, &outcome] { outcome = run_pub(*options); });
}

} // namespace pubsub::tool
