// SPDX-License-Identifier: BSD-3-Clause
#include "commands.hpp"

#include "connection.hpp"
#include "manual/command_text.hpp"
#include "message_output.hpp"
#include "receive_loop.hpp"
#include "stop_signal.hpp"
#include "terminal.hpp"
#include "where_options.hpp"

#include <algorithm>
#include <memory>

#include <fmt/format.h>

#include <pubsub/endpoint.hpp>

namespace pubsub::tool {

namespace {

struct sub_options {
  connection_options connection;
  std::vector<std::string> topics;
  queue_options queue;
  where_options where;
  std::optional<std::uint64_t> count;
  std::optional<double> timeout_s;
  output_format format = output_format::json;
  std::string file = "-";
};

/// Hands messages to an output until there are enough.
class message_printer {
public:
  message_printer(const sub_options& options, message_output& output)
      : options_(options), output_(output) {}

  bool done() const { return failed_ || (options_.count && printed_ >= *options_.count); }
  bool failed() const { return failed_; }
  std::uint64_t printed() const { return printed_; }

  /// False once the reader of the output has gone.
  bool print(const std::vector<data_message>& messages) {
    for (const auto& msg : messages) {
      if (done())
        break;
      const auto added = output_.add(msg);
      if (!added) {
        complain(added.error().context());
        failed_ = true;
      } else if (*added) {
        ++printed_;
      }
    }
    return output_.flush();
  }

private:
  const sub_options& options_;
  message_output& output_;
  std::uint64_t printed_ = 0;
  bool failed_ = false;
};

exit_code out_of_time(const sub_options& options, const message_printer& printer) {
  if (!options.count && printer.printed() > 0)
    return exit_code::ok;
  complain(options.count ? fmt::format("{} of {} messages after {} seconds", printer.printed(),
                                       *options.count, *options.timeout_s)
                         : fmt::format("no message in {} seconds", *options.timeout_s));
  return exit_code::timeout;
}

exit_code print_messages(subscriber& sub, const sub_options& options, message_output& output,
                         const stop_signal& stop) {
  message_printer printer{options, output};
  // It ends early where the reader of our output has gone.
  const auto why =
      receive_until(sub, stop, deadline_after(options.timeout_s),
                    [&](const auto& batch) { return printer.print(batch) && !printer.done(); });
  const auto ended = output.end();
  if (printer.failed())
    return exit_code::loss;
  if (ended != exit_code::ok)
    return ended;
  return why == receive_end::out_of_time ? out_of_time(options, printer) : exit_code::ok;
}

exit_code run_sub(const sub_options& options) {
  if (options.connection.listen.empty() && options.connection.peers.empty()) {
    complain("sub needs at least one --listen or --peer");
    return exit_code::usage;
  }
  if (options.format == output_format::parquet && options.file == "-") {
    complain("--format parquet needs --output FILE: such a file is not written from front to back");
    return exit_code::usage;
  }
  const auto where = options.where.read();
  if (!where) {
    complain(where.error().context());
    return exit_code::usage;
  }
  stop_signal stop;
  auto output = open_output(options.format, options.file);
  if (!output)
    return fail(output.error());
  endpoint ep{options.connection.for_endpoint()};
  const filter topics{options.topics};
  auto sub = *where ? ep.make_subscriber(topics, **where, options.queue)
                    : ep.make_subscriber(topics, options.queue);
  if (auto failed = connect(ep, options.connection, peering::wait); failed != exit_code::ok)
    return failed;
  auto outcome = print_messages(sub, options, **output, stop);
  const auto counters = sub.counters();
  complain_of_drops(counters);
  if (counters.dropped_overflow > 0) {
    complain("this subscriber did not keep up and was disconnected");
    return exit_code::loss;
  }
  return outcome;
}

constexpr const char* sub_examples = R"(Examples:
  pubsub sub --peer 127.0.0.1:9999 --topic zeek/records/conn
      {"type":"data-message","topic":"zeek/records/conn","@data-type":"vector","data":[...]}
  pubsub sub --listen 127.0.0.1:9999 --topic / --topic zeek/ --text
      waits for publishers itself, prints "topic -> value"
  pubsub sub --peer 127.0.0.1:9999 --topic zeek/ --count 10 --timeout 30
      ends with status 0 after ten messages, with 4 if they have not come after 30 seconds
  pubsub sub --peer 127.0.0.1:9999 --topic zeek/records/conn --format zeek-tsv > conn.log
      the records of a log as Zeek writes them; --format csv for a spreadsheet
  pubsub sub --peer 127.0.0.1:9999 --topic zeek/records/conn --format parquet --output conn.parquet --timeout 60
      what comes within a minute as a table with typed columns
  pubsub sub --peer 127.0.0.1:9999 --topic zeek/records/conn \
             --where 'id.resp_p == 443/tcp && orig_bytes > 1000 && id.orig_h in 10.0.0.0/8'
      only the records that fulfil the condition, and the event log_fields that names their columns
Without --topic everything is subscribed to. Ends on Ctrl-C or SIGTERM.)";

void add_format_option(CLI::App& command, output_format& format) {
  std::vector<std::string> names;
  for (const auto& each : output_formats)
    names.emplace_back(each.name);
  auto* const option = command.add_option_function<std::string>(
      "--format",
      [&format](const std::string& name) {
        format = std::ranges::find(output_formats, name, &named_format::name)->format;
      },
      "What is written: any message as json or text, a line each; records of Zeek's logs as csv, "
      "zeek-tsv, arrow (a stream) or parquet, a row each; the last two need Python with libpubsub "
      "and pyarrow");
  allow_only(option, names)->default_str("json");
}

} // namespace

void add_sub(CLI::App& app, exit_code& outcome) {
  auto options = std::make_shared<sub_options>();
  auto command = app.add_subcommand("sub", "Subscribe and print messages, one a line");
  add_connection_options(*command, options->connection);
  command->add_option("--topic", options->topics, "Subscribe to this topic prefix (repeatable)")
      ->type_name("PREFIX");
  add_where_options(*command, options->where);
  add_queue_options(*command, options->queue, "--policy", "--queue", "the subscriber's queue");
  command->add_option("--count", options->count, "End after this many messages")
      ->check(CLI::PositiveNumber);
  command->add_option("--timeout", options->timeout_s, "Seconds until giving up with status 4")
      ->check(CLI::PositiveNumber);
  add_format_option(*command, options->format);
  command->add_option("--output", options->file, "File for arrow and parquet; - is stdout")
      ->type_name("FILE")
      ->capture_default_str();
  command->add_flag_callback(
      "--text", [options] { options->format = output_format::text; }, "The same as --format text");
  command->footer(std::string{sub_examples} + "\n" + condition_help);
  command->callback([options, &outcome] {
    if (options->topics.empty())
      options->topics.emplace_back();
    outcome = run_sub(*options);
  });
}

} // namespace pubsub::tool
