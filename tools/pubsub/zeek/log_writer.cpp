// `pubsub log-writer`: records of Zeek's logs into files, as a Zeek logger writes them.
// SPDX-License-Identifier: BSD-3-Clause
#include "commands.hpp"

#include "connection.hpp"
#include "json_object.hpp"
#include "manual/command_text.hpp"
#include "recording/moments.hpp"
#include "stop_signal.hpp"
#include "terminal.hpp"
#include "where_options.hpp"
#include "zeek/log_session.hpp"

#include <csignal>
#include <memory>

#include <fmt/format.h>

#include <pubsub/endpoint.hpp>

namespace pubsub::tool {

namespace {

struct log_writer_settings {
  connection_options connection;
  std::vector<std::string> topics;
  where_options where;
  queue_options queue;
  std::string directory = ".";
  std::string format = "tsv";
  std::string json_times = "epoch";
  bool json_unset = false;
  timespan rotate{0};
  bool json = false; // of the totals

  zeek::log_writer_options for_writer() const {
    zeek::json_lines_options lines;
    lines.with_unset = json_unset;
    lines.times = json_times == "iso8601"  ? zeek::json_times::iso8601
                  : json_times == "millis" ? zeek::json_times::millis
                                           : zeek::json_times::epoch;
    return {.directory = directory,
            .lines = format == "json" ? zeek::make_json_lines(lines) : zeek::make_tsv_lines(),
            .rotate = std::chrono::ceil<std::chrono::seconds>(rotate)};
  }
};

/// What options have to do with each other; a sentence if they do not fit.
std::string conflict_in(const log_writer_settings& options) {
  if (options.connection.listen.empty() && options.connection.peers.empty())
    return "log-writer needs at least one --listen or --peer";
  if (options.format != "json" && (options.json_times != "epoch" || options.json_unset))
    return "--json-timestamps and --json-unset are for --format json";
  return {};
}

void complain_of(std::uint64_t number, std::string_view what) {
  if (number > 0)
    complain(fmt::format("{} {}", grouped(number), what));
}

/// What has not become a line in a file, and why.
void complain_of_rest(const zeek::log_writer& writer, const log_session& session) {
  const auto totals = writer.totals();
  const auto& reader = session.reader();
  complain_of(totals.lost, "records could not be written");
  complain_of(reader.unknown(), "records came before the columns of their log");
  complain_of(reader.others(), "messages were no records of logs");
  complain_of(reader.beyond_limits(), "announcements of columns were beyond the limits: too many "
                                      "logs, or columns");
  if (totals.misfits > 0)
    complain(
        fmt::format("{} records have a value that is not of its column's type; of the first, {}",
                    grouped(totals.misfits), writer.first_misfit()));
  complain_of(totals.bad_logs, "records are of logs that get no file: there are too many logs, or "
                               "the name is too long");
  complain_of(totals.restless, "records are of logs whose columns changed too often");
}

void report_logs(const zeek::log_writer& writer, const log_session& session,
                 const log_writer_settings& options, double length_s) {
  const auto totals = writer.totals();
  const auto written = totals.records - totals.lost;
  complain_of_rest(writer, session);
  if (!options.json) {
    fmt::print(stderr, "wrote {} records to {} file{} in {}\n", grouped(written), totals.files,
               totals.files == 1 ? "" : "s", duration_text(length_s));
    return;
  }
  json_object result;
  result.add("records", written)
      .add("files", totals.files)
      .add("lost", totals.lost)
      .add("unknown", session.reader().unknown())
      .add("others", session.reader().others())
      .add("misfits", totals.misfits)
      .add("beyond_limits", totals.bad_logs + totals.restless + session.reader().beyond_limits())
      .add("seconds", length_s);
  report_line(result.text());
}

exit_code write_logs(zeek::log_writer& writer, subscriber& sub, const log_writer_settings& options,
                     const stop_signal& stop, command_signal& rotate) {
  const auto begin = clock::now();
  log_session session{writer, sub};
  auto why = session.run(stop, rotate);
  if (!session.finish())
    why = session_end::failed;
  report_logs(writer, session, options,
              std::chrono::duration<double>(clock::now() - begin).count());
  complain_of_drops(sub.counters());
  if (why == session_end::closed)
    complain("this subscriber did not keep up and was disconnected");
  return why == session_end::stopped ? exit_code::ok : exit_code::loss;
}

exit_code run_log_writer(const log_writer_settings& options) {
  if (const auto conflict = conflict_in(options); !conflict.empty()) {
    complain(conflict);
    return exit_code::usage;
  }
  const auto where = options.where.read();
  if (!where) {
    complain(where.error().context());
    return exit_code::usage;
  }
  std::signal(SIGXFSZ, SIG_IGN); // a file that may not grow is noticed when writing
  stop_signal stop;
  command_signal rotate{SIGHUP};
  auto writer = zeek::log_writer::open(options.for_writer(), std::chrono::system_clock::now());
  if (!writer)
    return fail(writer.error());
  endpoint ep{options.connection.for_endpoint()};
  const filter topics{options.topics};
  auto sub = *where ? ep.make_subscriber(topics, **where, options.queue)
                    : ep.make_subscriber(topics, options.queue);
  if (auto failed = connect(ep, options.connection, peering::wait); failed != exit_code::ok)
    return failed;
  fmt::print(stderr, "writing logs to {}\n", options.directory);
  return write_logs(*writer, sub, options, stop, rotate);
}

constexpr const char* log_writer_examples = R"(Examples:
  pubsub log-writer --peer 127.0.0.1:9999 --directory /var/log/zeek
      conn.log, dns.log and so on; when it ends: "wrote 1,333 records to 2 files in 12.4 s"
  pubsub log-writer --listen '*:9999' --directory logs --rotate 1h
      the nodes of a cluster connect to it; on the hour conn.log ends and is renamed after the
      time at which it began: conn.2026-11-27-21-00-00.log
  pubsub log-writer --peer 127.0.0.1:9999 --format json --json-timestamps iso8601
      an object a line: {"ts":"2026-11-27T21:00:00.123456Z","uid":"CHhAvVGS1DHFjwGM9",...}
  pubsub log-writer --peer 127.0.0.1:9999 --topic zeek/logs/conn --where 'id.resp_p == 443/tcp'
      some of the records of one log
Without --topic it takes what comes on zeek/logs/, where nodes of Zeek send their logs, and on
zeek/records/, where pubsub pub --zeek-log does. Files are those of Zeek's ASCII writer, byte for
byte. A file that is there already is renamed, none is overwritten; one process writes into a
directory. When the columns of a log change, its file is renamed as if rotated, and another one
begins. Holds publishers back where the disk is too slow, unless --policy says otherwise. Lines are
in the files a second after they came. If a file cannot be written, as on a full disk, all files end
with their last whole line, and the status is 3. Signals: SIGHUP rotates all files at once. Ctrl-C and
SIGTERM end it after writing what is queued.)";

void add_file_options(CLI::App& command, log_writer_settings& options) {
  command.add_option("--directory", options.directory, "Where the files are; it must be there")
      ->type_name("DIRECTORY")
      ->capture_default_str();
  allow_only(
      command.add_option("--format", options.format,
                         "tsv: with a header that names the columns; json: an object a line"),
      {"tsv", "json"})
      ->default_str("tsv");
  add_length_option(
      command, "--rotate", options.rotate,
      "Begin other files every so many seconds (or 10m, 1h), counted from midnight; 0: "
      "never",
      timespan{0})
      ->default_str("0");
  allow_only(command.add_option("--json-timestamps", options.json_times,
                                "Times in JSON: seconds or milliseconds since 1970, or text"),
             {"epoch", "millis", "iso8601"})
      ->default_str("epoch");
  command.add_flag("--json-unset", options.json_unset,
                   "Write unset columns to JSON, as null, instead of leaving them out");
}

} // namespace

void add_log_writer(CLI::App& app, exit_code& outcome) {
  auto options = std::make_shared<log_writer_settings>();
  auto* const command =
      app.add_subcommand("log-writer", "Write records of Zeek's logs to files, as Zeek does");
  command->add_option("--topic", options->topics, "Subscribe to this topic prefix (repeatable)")
      ->type_name("PREFIX");
  add_where_options(*command, options->where);
  add_file_options(*command, *options);
  command->add_flag("--json", options->json, "Print the totals as a JSON object");
  add_queue_options(*command, options->queue, "--policy", "--queue", "the subscriber's queue");
  add_connection_options(*command, options->connection);
  command->footer(std::string{log_writer_examples} + "\n" + condition_help);
  command->callback([options, &outcome] {
    if (options->topics.empty())
      options->topics = {"zeek/logs/", "zeek/records/"};
    outcome = run_log_writer(*options);
  });
}

} // namespace pubsub::tool
