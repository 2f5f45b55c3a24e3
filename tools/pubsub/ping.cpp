// SPDX-License-Identifier: BSD-3-Clause
#include "commands.hpp"

#include "connection.hpp"
#include "stop_signal.hpp"
#include "terminal.hpp"

#include <algorithm>
#include <memory>

#include <fmt/format.h>

#include <pubsub/data_writer.hpp>
#include <pubsub/endpoint.hpp>

namespace pubsub::tool {

namespace {

constexpr const char* request_topic = "ping/request";
constexpr const char* reply_topic = "ping/reply";

struct ping_options {
  connection_options connection;
  std::size_t count = 1000;
  std::size_t payload_bytes = 100;
  double timeout_s = 10;
  bool echo = false;
};

exit_code run_echo(endpoint& ep, const stop_signal& stop) {
  auto requests = ep.make_subscriber({request_topic});
  auto replies = ep.make_publisher(reply_topic);
  while (wait_readable(requests.fd(), stop, std::nullopt) == wake::ready)
    while (const auto msg = requests.try_get())
      (void)replies.publish(get_view(*msg).bytes()); // without an answer, ping asks again
  return exit_code::ok;
}

class pinger {
public:
  pinger(endpoint& ep, const ping_options& options)
      : replies_(ep.make_subscriber({reply_topic})), requests_(ep.make_publisher(request_topic)),
        options_(options), text_(options.payload_bytes, 'x') {}

  exit_code run(const stop_signal& stop) {
    if (!first_contact(stop))
      return fail(
          {errc::request_timeout, fmt::format("no answer in {} seconds", options_.timeout_s)});
    std::vector<double> micros;
    micros.reserve(options_.count);
    while (micros.size() < options_.count && !stop.requested()) {
      auto begin = clock::now();
      send();
      if (!receive(std::chrono::nanoseconds{left_until(deadline_after(options_.timeout_s))}))
        return fail({errc::request_timeout, fmt::format("message {} was not answered in {} seconds",
                                                        number_, options_.timeout_s)});
      micros.push_back(std::chrono::duration<double, std::micro>(clock::now() - begin).count());
    }
    print(std::move(micros));
    return exit_code::ok;
  }

private:
  // Subscriptions travel in both directions first: ask until an answer comes.
  bool first_contact(const stop_signal& stop) {
    constexpr std::chrono::milliseconds ask_again{100};
    auto end = deadline_after(options_.timeout_s);
    if (!requests_.wait_for_subscribers(1, left_until(end)))
      return false;
    while (left_until(end).count() > 0 && !stop.requested()) {
      send();
      if (receive(ask_again))
        return true;
    }
    return false;
  }

  void send() {
    writer_.clear();
    writer_.begin_vector(2);
    writer_.write_count(++number_);
    writer_.write_string(text_);
    (void)requests_.publish(writer_.bytes()); // what gets lost is not answered
  }

  // The answer to the latest request; older ones are passed over.
  bool receive(std::chrono::nanoseconds timeout) {
    while (auto msg = replies_.get_for(timeout)) {
      auto view = get_view(*msg);
      if (view.size() == 2 && (*view.elements().begin()).as_count() == number_)
        return true;
    }
    return false;
  }

  static void print(std::vector<double> micros) {
    if (micros.empty())
      return;
    std::sort(micros.begin(), micros.end());
    auto at = [&](double part) {
      return micros[static_cast<std::size_t>(part * static_cast<double>(micros.size() - 1))];
    };
    fmt::print("{} round trips: p50 {:.1f} us, p90 {:.1f} us, p99 {:.1f} us, min {:.1f} us, max "
               "{:.1f} us\n",
               micros.size(), at(0.5), at(0.9), at(0.99), micros.front(), micros.back());
  }

  subscriber replies_;
  publisher requests_;
  const ping_options& options_;
  std::string text_;
  data_writer writer_;
  std::uint64_t number_ = 0;
};

exit_code run_ping(const ping_options& options) {
  if (options.connection.listen.empty() && options.connection.peers.empty()) {
    complain("ping needs at least one --listen or --peer");
    return exit_code::usage;
  }
  stop_signal stop;
  endpoint ep{options.connection.for_endpoint()};
  if (auto failed = connect(ep, options.connection, peering::wait); failed != exit_code::ok)
    return failed;
  auto outcome = options.echo ? run_echo(ep, stop) : pinger{ep, options}.run(stop);
  ep.close();
  return outcome;
}

constexpr const char* ping_examples = R"(Examples:
  pubsub ping --listen 127.0.0.1:9999 --echo          answers until Ctrl-C
  pubsub ping --peer 127.0.0.1:9999 --count 10000     round-trip times through one peering, or relays)";

} // namespace

void add_ping(CLI::App& app, exit_code& outcome) {
  auto options = std::make_shared<ping_options>();
  auto command = app.add_subcommand("ping", "Measure round-trip times");
  add_connection_options(*command, options->connection);
  command->add_flag("--echo", options->echo, "Answer instead of asking");
  command->add_option("--count", options->count, "Round trips")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command->add_option("--payload", options->payload_bytes, "Bytes of text in a message")
      ->check(CLI::Range(0U, 1U << 24))
      ->capture_default_str();
  command->add_option("--timeout", options->timeout_s, "Seconds to wait for an answer")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command->footer(ping_examples);
  command->callback([options, &outcome] { outcome = run_ping(*options); });
}

} // namespace pubsub::tool
