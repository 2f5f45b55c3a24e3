// `pubsub replay`: what was recorded, published again.
// SPDX-License-Identifier: BSD-3-Clause
#include "commands.hpp"

#include "connection.hpp"
#include "json_object.hpp"
#include "recording/moments.hpp"
#include "recording/replayer.hpp"
#include "stop_signal.hpp"
#include "terminal.hpp"
#include "wait_interest.hpp"
#include "where_options.hpp"

#include <algorithm>
#include <memory>
#include <tuple>

#include <fmt/format.h>

#include <pubsub/endpoint.hpp>

namespace pubsub::tool {

namespace {

struct replay_options {
  connection_options connection;
  std::vector<std::string> files;
  std::vector<std::string> topics;
  where_options where;
  std::optional<double> rate = 1;
  std::optional<moment> from;
  std::optional<moment> to;
  bool loop = false;
  std::size_t wait_subscribers = 1;
  double timeout_s = 30;
  bool json = false;
};

expected<replay_plan> make_plan(const replay_options& options) {
  replay_plan plan;
  for (const auto& path : options.files) {
    auto found = record::summarize(path);
    if (!found)
      return found.error();
    if (!found->damage.empty())
      complain(fmt::format("{}: {}", path, found->damage));
    if (found->messages > 0)
      plan.files.push_back(std::move(*found));
  }
  // Messages that came together have one time, and may be in several files of a recording.
  std::ranges::sort(plan.files, {}, [](const record::summary& x) {
    return std::tuple{x.first, x.last, x.path};
  });
  plan.which.topics = filter{options.topics};
  plan.rate = options.rate;
  auto where = options.where.read();
  if (!where)
    return where.error();
  plan.where = std::move(*where);
  if (plan.files.empty())
    return plan;
  const auto beginning = *plan.files.front().first;
  if (options.from)
    plan.which.from = options.from->after(beginning);
  if (options.to)
    plan.which.to = options.to->after(beginning);
  return plan;
}

/// What all topics that are replayed begin with; nothing if there are none.
std::optional<std::string> common_prefix(const replay_plan& plan) {
  std::optional<std::string> result;
  for (const auto& file : plan.files)
    for (const auto& each : file.topics) {
      if (!plan.which.topics.matches(each.topic))
        continue;
      if (!result)
        result = each.topic;
      const auto both = std::ranges::mismatch(*result, each.topic);
      result->erase(both.in1, result->end());
    }
  return result;
}

exit_code wait_first(const endpoint& ep, const std::string& prefix, const replay_options& options,
                     const stop_signal& stop) {
  if (options.wait_subscribers == 0)
    return exit_code::ok;
  const auto end = deadline_after(options.timeout_s);
  if (wait_for_interest(ep, prefix, options.wait_subscribers, stop, end) != wake::timeout)
    return exit_code::ok;
  complain(fmt::format("{} of {} subscribers for {} after {} seconds", ep.subscribers(prefix),
                       options.wait_subscribers, printable(prefix), options.timeout_s));
  return exit_code::timeout;
}

void report_replay(const replayer& done, std::size_t unsent, double length_s, bool json) {
  const auto sent = done.of(publish_result::taken) + done.of(publish_result::dropped);
  if (json) {
    json_object result;
    result.add("messages", done.messages())
        .add("sent", sent)
        .add("dropped", done.of(publish_result::dropped))
        .add("unwanted", done.of(publish_result::unwanted))
        .add("refused", done.of(publish_result::refused))
        .add("filtered", done.filtered())
        .add("skipped", done.skipped().total())
        .add("unsent", unsent)
        .add("seconds", length_s);
    report_line(result.text());
    return;
  }
  auto text = fmt::format("sent {} of {} messages in {}", grouped(sent), grouped(done.messages()),
                          duration_text(length_s));
  const auto add = [&](const char* what, std::uint64_t value) {
    if (value > 0)
      text += fmt::format(", {} {}", grouped(value), what);
  };
  add("left out by --where", done.filtered());
  add("of them dropped by a full queue", done.of(publish_result::dropped));
  add("wanted by nobody", done.of(publish_result::unwanted));
  add("refused", done.of(publish_result::refused));
  add("still queued at the end", unsent);
  fmt::print(stderr, "{}, skipped {}\n", text, done.skipped().summary());
}

exit_code replay_all(endpoint& ep, const replay_plan& plan, const replay_options& options,
                     const stop_signal& stop) {
  replayer player{ep, plan, stop};
  const auto begin = clock::now();
  std::size_t unsent = 0;
  {
    close_on_stop guard{ep, stop};
    while (player.run_once() && options.loop && player.messages() > 0) {
    }
    const auto patience = stop.requested() ? std::chrono::nanoseconds{0}
                                           : left_until(deadline_after(options.timeout_s));
    unsent = ep.flush(patience);
  }
  ep.close();
  report_replay(player, unsent, std::chrono::duration<double>(clock::now() - begin).count(),
                options.json);
  if (player.failed())
    return exit_code::usage;
  if (unsent == 0 || stop.requested())
    return exit_code::ok;
  complain(fmt::format("{} messages could not be sent in {} seconds", unsent, options.timeout_s));
  return exit_code::timeout;
}

exit_code run_replay(const replay_options& options) {
  if (options.connection.listen.empty() && options.connection.peers.empty()) {
    complain("replay needs at least one --listen or --peer");
    return exit_code::usage;
  }
  const auto plan = make_plan(options);
  if (!plan)
    return fail(plan.error());
  const auto prefix = common_prefix(*plan);
  if (!prefix) {
    complain("there is no message on these topics");
    return exit_code::usage;
  }
  stop_signal stop;
  auto settings = options.connection.for_endpoint();
  settings.forwarding = forwarding::on; // only relays are told of subscriptions below a topic
  endpoint ep{settings};
  if (auto failed = connect(ep, options.connection, peering::wait); failed != exit_code::ok)
    return failed;
  if (auto failed = wait_first(ep, *prefix, options, stop); failed != exit_code::ok)
    return failed;
  return replay_all(ep, *plan, options, stop);
}

std::optional<double> read_rate(const std::string& text) {
  if (text == "max")
    return std::nullopt;
  double rate = 0;
  if (!CLI::detail::lexical_cast(text, rate) || !(rate > 0))
    throw CLI::ValidationError("--rate", "a number greater than 0 or max is expected");
  return rate;
}

moment read_moment(const std::string& option, const std::string& text) {
  const auto found = parse_moment(text);
  if (!found)
    throw CLI::ValidationError(option, "a time is expected: 2026-01-31T12:00:00Z, 1769860800.5, or "
                                       "+90 for 90 seconds after the beginning");
  return *found;
}

constexpr const char* replay_examples = R"(Examples:
  pubsub replay traffic.mcap --peer 127.0.0.1:9999
      publishes what was recorded, at the pace at which it came: "sent 1,333 of 1,333 messages in 12.4 s, skipped 0"
  pubsub replay traffic-*.mcap --listen 127.0.0.1:9999 --rate max
      all files of a recording in the order of their times, as fast as subscribers take them
  pubsub replay traffic.mcap --peer 127.0.0.1:9999 --topic zeek/records/ --from 2026-01-31T12:00:00Z --to +600
      a part; --from and --to take seconds since 1970, too, and +SECONDS after the beginning
  pubsub replay traffic.mcap --peer 127.0.0.1:9999 --where 'id.resp_p == 443/tcp'
      the records that fulfil a condition (pubsub sub --help says how they are written), and the names of their columns
Waits for a subscriber first. Messages keep their order, whatever their topics; they are messages of
this process now: who had published them stays in the file (docs/how-to/record-and-replay.md).)";

} // namespace

void add_replay(CLI::App& app, exit_code& outcome) {
  auto options = std::make_shared<replay_options>();
  auto* const command = app.add_subcommand("replay", "Publish recorded messages again");
  command->add_option("file", options->files, "MCAP files")->type_name("FILE")->required();
  command->add_option("--topic", options->topics, "Only this topic prefix (repeatable)")
      ->type_name("PREFIX")
      ->allow_extra_args(false);
  add_where_options(*command, options->where);
  command
      ->add_option_function<std::string>(
          "--rate", [options](const std::string& text) { options->rate = read_rate(text); },
          "How many times as fast as recorded; max: as fast as possible")
      ->type_name("NUMBER|max")
      ->default_str("1");
  for (const auto& [name, text, value] :
       {std::tuple{"--from", "Only what was recorded at this time or later", &replay_options::from},
        std::tuple{"--to", "Only what was recorded before this time", &replay_options::to}})
    command
        ->add_option_function<std::string>(
            name,
            [options, option = std::string{name}, member = value](const std::string& given) {
              (*options).*member = read_moment(option, given);
            },
            text)
        ->type_name("TIME");
  command->add_flag("--loop", options->loop, "Begin again at the end");
  command
      ->add_option("--wait-subscribers", options->wait_subscribers,
                   "Subscribers or peers to wait for first")
      ->capture_default_str();
  command
      ->add_option("--timeout", options->timeout_s,
                   "Seconds to wait for subscribers, and for sending at the end")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command->add_flag("--json", options->json, "Print the totals as a JSON object");
  add_connection_options(*command, options->connection);
  for (const auto* name : {"--peer", "--listen"})
    command->get_option(name)->allow_extra_args(false); // what follows the value is a file
  command->footer(replay_examples);
  command->callback([options, &outcome] {
    if (options->topics.empty())
      options->topics.emplace_back();
    outcome = run_replay(*options);
  });
}

} // namespace pubsub::tool
