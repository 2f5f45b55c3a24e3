// `pubsub record`: messages into MCAP files.
// SPDX-License-Identifier: BSD-3-Clause
#include "commands.hpp"

#include "connection.hpp"
#include "json_object.hpp"
#include "recording/moments.hpp"
#include "recording/recorder.hpp"
#include "stop_signal.hpp"
#include "terminal.hpp"
#include "where_options.hpp"

#include <csignal>
#include <memory>

#include <fmt/format.h>
#include <unistd.h>

#include <pubsub/endpoint.hpp>

namespace pubsub::tool {

namespace {

struct record_options {
  connection_options connection;
  std::vector<std::string> topics;
  where_options where;
  std::string output;
  std::string format = "bin";
  int level = record::chunk_options{}.compression_level;
  std::uint64_t chunk_bytes = record::chunk_options{}.chunk_bytes;
  std::uint64_t split_bytes = 0;
  timespan split_time{0};
  std::uint64_t ring_bytes = 0;
  timespan ring_time{0};
  std::string trigger; // a condition
  timespan trigger_after = std::chrono::seconds{5};
  bool replace = false;
  queue_options queue;
  std::optional<std::uint64_t> count;
  std::optional<double> seconds;
  bool json = false;

  bool in_memory() const { return ring_bytes > 0 || ring_time.count() > 0; }
};

/// What the texts of the options say.
struct record_conditions {
  std::optional<condition> where;
  std::optional<ring_trigger> trigger;
};

expected<record_conditions> read_conditions(const record_options& options) {
  record_conditions result;
  auto where = options.where.read();
  if (!where)
    return where.error();
  result.where = std::move(*where);
  if (options.trigger.empty())
    return result;
  const auto trigger = read_condition("--trigger", options.trigger);
  if (!trigger)
    return trigger.error();
  result.trigger.emplace(*trigger, options.trigger_after);
  return result;
}

/// What options have to do with each other; a sentence if they do not fit.
std::string conflict_in(const record_options& options) {
  if (options.connection.listen.empty() && options.connection.peers.empty())
    return "record needs at least one --listen or --peer";
  if (options.trigger.empty())
    return {};
  if (!options.in_memory())
    return "--trigger needs --ring or --ring-time: it says when what they keep is written";
  if (options.ring_time.count() > 0 && options.trigger_after >= options.ring_time)
    return "--trigger-after must be less than --ring-time: what triggers would be forgotten";
  return {};
}

record::chunk_options chunks_of(const record_options& options,
                                const std::optional<condition>& where, const endpoint& ep) {
  record::chunk_options result;
  result.format =
      options.format == "json" ? record::payload_format::json : record::payload_format::binary;
  result.compression_level = options.level;
  result.chunk_bytes = options.chunk_bytes;
  std::string topics;
  for (const auto& each : options.topics)
    topics += (topics.empty() ? "" : " ") + printable(each);
  result.about = {{"recorder", printable(ep.name())},
                  {"recorder_id", to_string(ep.id())},
                  {"topics", topics},
                  {"started", time_of_day()}};
  if (where) {
    result.about.emplace("where", printable(where->text()));
    if (options.where.pass_unknown)
      result.about.emplace("pass_unknown", "yes");
  }
  return result;
}

expected<recording> open_recording(const record_options& options, record::chunk_options chunks) {
  if (options.in_memory()) {
    auto ring = record::ring::open({std::move(chunks), options.ring_bytes, options.ring_time});
    if (!ring)
      return ring.error();
    return recording{std::move(*ring)};
  }
  record::writer_options files;
  files.chunks = std::move(chunks);
  files.split_bytes = options.split_bytes;
  files.split_time = options.split_time;
  files.existing = options.replace ? record::existing_file::replace : record::existing_file::refuse;
  auto writer = record::writer::open(options.output, std::move(files));
  if (!writer)
    return writer.error();
  return recording{std::move(*writer)};
}

std::string totals_text(const recorder& done, const record_options& options, double length_s) {
  const auto& totals = done.totals();
  auto text = fmt::format("recorded {} messages in {}: {} written, {} of payload, {} in {} file{}",
                          grouped(done.messages()), duration_text(length_s),
                          grouped(totals.messages), size_text(totals.payload_bytes),
                          size_text(totals.file_bytes), totals.files, totals.files == 1 ? "" : "s");
  if (!options.where.text.empty())
    text += fmt::format(", {} left out here by --where", grouped(done.filtered()));
  if (const auto& trigger = done.trigger())
    text += fmt::format(", {} triggers and {} more within --trigger-after",
                        grouped(trigger->requests()), grouped(trigger->more()));
  return text;
}

void report_recording(const recorder& done, const record_options& options, double length_s) {
  const auto& totals = done.totals();
  if (options.json) {
    json_object result;
    result.add("messages", done.messages())
        .add("written", totals.messages)
        .add("payload_bytes", totals.payload_bytes)
        .add("file_bytes", totals.file_bytes)
        .add("files", totals.files)
        .add("chunks", totals.chunks)
        .add("missed", done.missing().missed)
        .add("dropped", done.missing().dropped)
        .add("filtered", done.filtered())
        .add("triggers", done.trigger() ? done.trigger()->requests() : 0)
        .add("more_triggers", done.trigger() ? done.trigger()->more() : 0)
        .add("seconds", length_s);
    report_line(result.text());
    return;
  }
  fmt::print(stderr, "{}\n", totals_text(done, options, length_s));
  if (const auto& gap = done.missing(); gap != record::gap{})
    complain(fmt::format("{} messages did not arrive and {} were dropped here; the file says where",
                         gap.missed, gap.dropped));
}

exit_code outcome_of(recorder_end why, const recorder& done, const record_options& options) {
  switch (why) {
  case recorder_end::failed:
    return exit_code::usage;
  case recorder_end::closed:
    complain("this recorder did not keep up and was disconnected");
    return exit_code::loss;
  case recorder_end::out_of_time:
    if (options.count && done.messages() < *options.count) {
      complain(fmt::format("{} of {} messages after {} seconds", done.messages(), *options.count,
                           *options.seconds));
      return exit_code::timeout;
    }
    return exit_code::ok;
  default:
    return exit_code::ok;
  }
}

void say_where_to(const recording& to, const std::optional<ring_trigger>& trigger) {
  if (const auto* const files = std::get_if<record::writer>(&to)) {
    fmt::print(stderr, "recording to {}\n", files->path());
    return;
  }
  fmt::print(stderr, "recording into memory; SIGUSR1 writes it: kill -USR1 {}{}\n", ::getpid(),
             trigger ? "; so does a message with " + printable(trigger->condition_text()) : "");
}

exit_code run_record(const record_options& options) {
  if (const auto conflict = conflict_in(options); !conflict.empty()) {
    complain(conflict);
    return exit_code::usage;
  }
  auto chosen = read_conditions(options);
  if (!chosen) {
    complain(chosen.error().context());
    return exit_code::usage;
  }
  stop_signal stop;
  command_signal save{SIGUSR1};
  endpoint ep{options.connection.for_endpoint()};
  auto to = open_recording(options, chunks_of(options, chosen->where, ep));
  if (!to)
    return fail(to.error());
  const filter topics{options.topics};
  auto sub = chosen->where ? ep.make_subscriber(topics, *chosen->where, options.queue)
                           : ep.make_subscriber(topics, options.queue);
  if (auto failed = connect(ep, options.connection, peering::wait); failed != exit_code::ok)
    return failed;
  say_where_to(*to, chosen->trigger);
  const auto begin = clock::now();
  recorder session{*to,
                   sub,
                   {options.output, options.count, deadline_after(options.seconds)},
                   std::move(chosen->trigger)};
  auto why = session.run(stop, save);
  if (!session.finish())
    why = recorder_end::failed;
  report_recording(session, options, std::chrono::duration<double>(clock::now() - begin).count());
  return outcome_of(why, session, options);
}

constexpr const char* record_examples = R"(Examples:
  pubsub record --peer 127.0.0.1:9999 --topic zeek/ -o traffic.mcap
      until Ctrl-C: "recorded 1,333 messages in 12.4 s: 1,333 written, 401.2 kB of payload, 61.0 kB in 1 file"
  pubsub record --peer 127.0.0.1:9999 -o traffic.mcap --split-size 1G
      traffic-0001.mcap, traffic-0002.mcap and so on, each of a gigabyte or so; --split-time 3600 by the hour
  pubsub record --peer 127.0.0.1:9999 -o incident.mcap --ring 500M --ring-time 600
      keeps the last ten minutes in memory, compressed; kill -USR1 PID writes them to incident-0001.mcap
  pubsub record --peer 127.0.0.1:9999 --topic zeek/ -o telnet.mcap --ring-time 10m --trigger 'id.resp_p == 23/tcp'
      writes them by itself, with the 5 seconds that follow (--trigger-after), when a record has that port
  pubsub record --peer 127.0.0.1:9999 --topic zeek/records/conn -o dns.mcap --where 'id.resp_p == 53/udp'
      only what fulfils the condition, and the event log_fields that names the columns; nodes on the way withhold the rest
  pubsub record --peer 127.0.0.1:9999 -o traffic.mcap --format json
      for viewers of MCAP files that know JSON; slower and larger, and reals are rounded
Holds publishers back where the disk is too slow, unless --policy says otherwise. Messages that did
not arrive are noted in the file. A file can be read while it grows, and after a crash.)";

void add_file_options(CLI::App& command, record_options& options) {
  command.add_option("-o,--output", options.output, "The file to write")
      ->type_name("FILE")
      ->required();
  command.add_flag("--replace", options.replace, "Overwrite a file that is there");
  command
      .add_option("--format", options.format,
                  "bin: values as they are, nothing is lost; json: for viewers")
      ->check(CLI::IsMember({"bin", "json"}))
      ->capture_default_str();
  command.add_option("--level", options.level, "Compression of zstd; 0: none")
      ->check(CLI::Range(0, 19))
      ->capture_default_str();
  add_size_option(command, "--chunk-size", options.chunk_bytes,
                  "Messages that are compressed and written together; one chunk is lost in a crash")
      ->default_str("1MiB");
  auto* const split_size = add_size_option(command, "--split-size", options.split_bytes,
                                           "Begin another file when one has this size");
  auto* const split_time =
      add_length_option(command, "--split-time", options.split_time,
                        "Begin another file after so many seconds (or 10m, 2h)");
  for (auto* const ring :
       {add_size_option(command, "--ring", options.ring_bytes,
                        "Keep the newest messages in memory, so many bytes compressed, and write "
                        "them on SIGUSR1"),
        add_length_option(command, "--ring-time", options.ring_time,
                          "The same for the messages of so many seconds (or 10m, 2h)")})
    ring->excludes(split_size)->excludes(split_time);
}

void add_trigger_options(CLI::App& command, record_options& options) {
  auto* const trigger =
      command
          .add_option("--trigger", options.trigger,
                      "Write what --ring or --ring-time keep when a message fulfils this "
                      "condition, as on SIGUSR1")
          ->type_name("CONDITION");
  add_length_option(command, "--trigger-after", options.trigger_after,
                    "So long after such a message, so that the file has what follows; messages "
                    "that fulfil it until then are counted and write nothing",
                    timespan{0})
      ->default_str("5")
      ->needs(trigger);
}

} // namespace

void add_record(CLI::App& app, exit_code& outcome) {
  auto options = std::make_shared<record_options>();
  auto* const command = app.add_subcommand("record", "Record messages to MCAP files");
  command->add_option("--topic", options->topics, "Record this topic prefix (repeatable)")
      ->type_name("PREFIX");
  add_where_options(*command, options->where);
  add_file_options(*command, *options);
  add_trigger_options(*command, *options);
  command->add_option("--count", options->count, "End after this many messages")
      ->check(CLI::PositiveNumber);
  command
      ->add_option("--seconds", options->seconds,
                   "End after so many seconds; with status 4 if --count was not reached")
      ->check(CLI::PositiveNumber);
  command->add_flag("--json", options->json, "Print the totals as a JSON object");
  add_queue_options(*command, options->queue, "--policy", "--queue", "the recorder's queue");
  add_connection_options(*command, options->connection);
  command->footer(std::string{record_examples} + "\n" + condition_help);
  command->callback([options, &outcome] {
    if (options->topics.empty())
      options->topics.emplace_back();
    outcome = run_record(*options);
  });
}

} // namespace pubsub::tool
