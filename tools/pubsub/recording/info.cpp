// `pubsub info`: what is in a recording.
// SPDX-License-Identifier: BSD-3-Clause
#include "commands.hpp"

#include "json_object.hpp"
#include "recording/moments.hpp"
#include "terminal.hpp"

#include <algorithm>
#include <memory>

#include <fmt/format.h>

#include <pubsub/record/summary.hpp>

namespace pubsub::tool {

namespace {

struct info_options {
  std::vector<std::string> files;
  bool json = false;
};

/// Gaps that are listed one by one.
constexpr std::size_t shown_gaps = 10;

double seconds_of(const record::summary& x) {
  return x.first ? std::chrono::duration<double>(*x.last - *x.first).count() : 0;
}

record::gap sum_of(const record::summary& x) {
  record::gap sum;
  for (const auto& each : x.gaps) {
    sum.missed += each.missing.missed;
    sum.dropped += each.missing.dropped;
  }
  return sum;
}

std::string compression_text(const record::summary& x) {
  if (x.compression.empty() || x.compressed_bytes == 0)
    return "not compressed";
  return fmt::format("{}, {:.1f} times smaller", printable(x.compression),
                     static_cast<double>(x.uncompressed_bytes) /
                         static_cast<double>(x.compressed_bytes));
}

void add_topics(line_output& out, const record::summary& x) {
  if (x.topics.empty())
    return;
  const auto length_s = seconds_of(x);
  out.add(fmt::format("{:>14} {:>9} {:>8}  {:<16} {}", "MESSAGES", "MSG/s", "STREAMS", "ENCODING",
                      "TOPIC"));
  for (const auto& each : x.topics)
    out.add(fmt::format("{:>14} {:>9} {:>8}  {:<16} {}", grouped(each.messages),
                        length_s > 0 ? short_number(static_cast<double>(each.messages) / length_s)
                                     : "-",
                        each.streams > 0 ? grouped(each.streams) : "-", printable(each.encoding),
                        printable(each.topic)));
}

void add_gaps(line_output& out, const record::summary& x) {
  if (x.about.contains("where"))
    out.add("gaps on the way: not known, since nodes there leave messages out by the condition");
  if (x.gaps.empty())
    return;
  const auto sum = sum_of(x);
  out.add(fmt::format("gaps: {} ({} messages did not arrive, {} were dropped)", x.gaps.size(),
                      grouped(sum.missed), grouped(sum.dropped)));
  for (std::size_t i = 0; i < std::min(x.gaps.size(), shown_gaps); ++i)
    out.add(fmt::format("  {}: {} did not arrive, {} dropped", moment_text(x.gaps[i].when),
                        x.gaps[i].missing.missed, x.gaps[i].missing.dropped));
  if (x.gaps.size() > shown_gaps)
    out.add("  ...");
}

bool print_text(const record::summary& x) {
  line_output out;
  out.add(fmt::format("{}: {} messages, {} in {} chunks, {}", printable(x.path),
                      grouped(x.messages), size_text(x.file_bytes), grouped(x.chunks),
                      compression_text(x)));
  if (x.first)
    out.add(fmt::format("time: {} to {} ({})", moment_text(*x.first), moment_text(*x.last),
                        duration_text(seconds_of(x))));
  out.add(fmt::format("written by: {}", printable(x.library)));
  for (const auto& [name, value] : x.about)
    out.add(fmt::format("{}: {}", printable(name), printable(value)));
  if (!x.damage.empty())
    out.add(fmt::format("damage: {}", printable(x.damage)));
  else if (!x.indexed)
    out.add("index: none");
  add_gaps(out, x);
  add_topics(out, x);
  return out.flush();
}

json_object describe(const record::summary& x) {
  const auto sum = sum_of(x);
  json_object result;
  result.add("file", x.path)
      .add("library", x.library)
      .add("file_bytes", x.file_bytes)
      .add("indexed", x.indexed)
      .add("damage", x.damage)
      .add("messages", x.messages)
      .add("chunks", x.chunks)
      .add("compression", x.compression)
      .add("compressed_bytes", x.compressed_bytes)
      .add("uncompressed_bytes", x.uncompressed_bytes)
      .add("first", x.first ? moment_text(*x.first) : "")
      .add("last", x.last ? moment_text(*x.last) : "")
      .add("seconds", seconds_of(x))
      .add("missed", sum.missed)
      .add("dropped", sum.dropped);
  std::vector<json_object> gaps;
  for (const auto& each : x.gaps)
    gaps.push_back(json_object{}
                       .add("time", moment_text(each.when))
                       .add("missed", each.missing.missed)
                       .add("dropped", each.missing.dropped));
  std::vector<json_object> topics;
  for (const auto& each : x.topics)
    topics.push_back(json_object{}
                         .add("topic", each.topic)
                         .add("encoding", each.encoding)
                         .add("messages", each.messages)
                         .add("streams", each.streams));
  json_object about;
  for (const auto& [name, value] : x.about)
    about.add(name, value);
  return result.add("about", about).add("gaps", gaps).add("topics", topics);
}

exit_code run_info(const info_options& options) {
  auto outcome = exit_code::ok;
  for (const auto& path : options.files) {
    const auto found = record::summarize(path);
    if (!found) {
      outcome = fail(found.error());
      continue;
    }
    if (options.json)
      report_line(describe(*found).text());
    else if (!print_text(*found))
      return outcome;
  }
  return outcome;
}

constexpr const char* info_examples = R"(Examples:
  pubsub info traffic.mcap
      topics with their numbers of messages, the time that it spans, gaps, sizes; and where it breaks off, if it does
  pubsub info --json traffic-*.mcap
      one JSON object a file
Any MCAP file will do. A file without an index, as after a crash, is read as a whole.)";

} // namespace

void add_info(CLI::App& app, exit_code& outcome) {
  auto options = std::make_shared<info_options>();
  auto* const command = app.add_subcommand("info", "Say what is in recorded MCAP files");
  command->add_option("file", options->files, "MCAP files")->type_name("FILE")->required();
  command->add_flag("--json", options->json, "Print JSON objects, one a line");
  command->footer(info_examples);
  command->callback([options, &outcome] { outcome = run_info(*options); });
}

} // namespace pubsub::tool
