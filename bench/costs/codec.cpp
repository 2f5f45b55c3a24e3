// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks.hpp"

#include "costs/codec_samples.hpp"
#include "kit/progress.hpp"
#include "kit/report.hpp"
#include "kit/sampling.hpp"
#include "stop_signal.hpp"

#include <filesystem>
#include <functional>
#include <memory>

#include <fmt/format.h>

#include <pubsub/binary.hpp>
#include <pubsub/data_writer.hpp>
#include <pubsub/format.hpp>

namespace pubsub::tool {

namespace bench {

namespace {

struct codec_options {
  std::string input;
  unsigned runs = 5;
  double duration_s = 0.05;
  std::string json_file;
};

// What reading every value of a message takes: bytes and numbers, containers included.
std::uint64_t visit(const data_view& x) {
  switch (x.type()) {
  case data_type::boolean:
    return x.as_boolean();
  case data_type::count:
    return x.as_count();
  case data_type::integer:
    return static_cast<std::uint64_t>(x.as_integer());
  case data_type::real:
    return x.as_real() > 0;
  case data_type::string:
    return x.as_string().size();
  case data_type::address:
    return x.as_address().bytes()[15];
  case data_type::subnet:
    return x.as_subnet().raw_length();
  case data_type::port:
    return x.as_port().number();
  case data_type::timestamp:
    return static_cast<std::uint64_t>(x.as_timestamp().time_since_epoch().count());
  case data_type::timespan:
    return static_cast<std::uint64_t>(x.as_timespan().count());
  case data_type::enum_value:
    return x.as_enum().size();
  default:
    break;
  }
  std::uint64_t sum = 0;
  for (auto element : x.elements())
    sum += visit(element);
  for (auto entry : x.entries())
    sum += visit(entry.key) + visit(entry.value);
  return sum;
}

struct codec_step {
  const char* name;
  rate_statistics ns;
};

struct codec_result {
  std::string type;
  std::size_t encoded_bytes = 0;
  std::size_t json_bytes = 0;
  std::vector<codec_step> steps;
};

bool survives(const codec_sample& sample) {
  auto bytes = encode_binary(sample.value);
  if (!bytes)
    return false;
  auto back = decode_binary(*bytes);
  bool ok = back && *back == sample.value;
#ifdef PUBSUB_HAS_JSON
  auto text = to_json(sample.value); // times lose what is below a millisecond in JSON
  auto parsed = from_json(text);
  ok = ok && parsed && to_json(*parsed) == text;
#endif
  return ok;
}

codec_result measure(const codec_sample& sample, const codec_options& options) {
  auto length =
      std::chrono::nanoseconds{static_cast<std::int64_t>(options.duration_s * 1'000'000'000)};
  auto timed = [&](auto operation) { return sample_ns(operation, options.runs, length); };
  data_writer writer;
  writer.write(sample.value);
  auto bytes = writer.take();
  auto text = to_json(sample.value);
  codec_result result{sample.name, bytes.size(), text.size(), {}};
  auto& steps = result.steps;
  steps.push_back({"encode", timed([&] {
                     writer.clear();
                     writer.write(sample.value);
                     keep(writer.bytes());
                   })});
  steps.push_back({"view", timed([&] { keep(visit(*data_view::make(bytes))); })});
  steps.push_back({"value", timed([&] { keep(decode_binary(bytes)); })});
  steps.push_back({"json_encode", timed([&] { keep(to_json(sample.value)); })});
#ifdef PUBSUB_HAS_JSON
  steps.push_back({"json_decode", timed([&] { keep(from_json(text)); })});
#endif
  return result;
}

void print_row(const codec_result& x) {
  fmt::print("{:<22} {:>6}", x.type, x.encoded_bytes);
  for (const auto& step : x.steps)
    fmt::print(" {:>9.1f} {:>7.2f}", step.ns.median, 1e3 / step.ns.median);
  fmt::print("\n");
  std::fflush(stdout);
}

void print_head() {
  fmt::print("{:<22} {:>6}", "type", "bytes");
  for (auto step : {"encode", "view", "value", "to JSON", "from JSON"})
    fmt::print(" {:>9} {:>7}", step, "M/s");
  fmt::print("  (ns, and million a second)\n");
}

void describe(const codec_result& x, std::vector<json_object>& into) {
  for (const auto& step : x.steps) {
    json_object result;
    result.add("type", x.type)
        .add("operation", step.name)
        .add("payload_bytes", x.encoded_bytes)
        .add("json_bytes", x.json_bytes)
        .add("ns", bench::describe(step.ns))
        .add("msgs_per_s", bench::describe(rates_of(step.ns)));
    into.push_back(std::move(result));
  }
}

// The records that come with the sources, where they are at hand.
expected<std::vector<codec_sample>> collect_samples(const codec_options& options) {
  constexpr const char* own_log = "bench/data/conn.log";
  auto samples = samples_of_all_types();
  auto file = options.input;
  if (file.empty() && !std::filesystem::exists(own_log)) {
    complain(fmt::format("no record is measured: {} is not there, and no --input given", own_log));
    return samples;
  }
  auto record = sample_of_log(file.empty() ? own_log : file);
  if (!record)
    return record.error();
  samples.push_back(std::move(*record));
  return samples;
}

exit_code run_codec(const codec_options& options) {
  auto samples = collect_samples(options);
  if (!samples)
    return fail(samples.error());
  stop_signal stop;
  progress progress;
  std::vector<json_object> results;
  print_head();
  for (const auto& sample : *samples) {
    if (stop.requested()) {
      complain("interrupted");
      return exit_code::usage;
    }
    if (!survives(sample)) {
      complain(fmt::format("{}: what was decoded is not what was encoded", sample.name));
      return exit_code::loss;
    }
    if (progress.due(clock::now()))
      progress.show(fmt::format("measuring {}", sample.name));
    auto result = measure(sample, options);
    print_row(result);
    describe(result, results);
  }
  json_object params;
  params.add("runs", options.runs).add("duration_s", options.duration_s);
  if (!options.input.empty())
    params.add("input", options.input);
  return save_report(options.json_file, "codec", params, results);
}

constexpr const char* codec_examples = R"(Examples:
  pubsub bench codec
      a value of each type and, where bench/data/conn.log is at hand, a conn record
  pubsub bench codec --input conn.log --runs 9 --json codec.json
      the record of a Zeek log that has the most columns set, as an event
Columns: encode (bin::v1), view (check the bytes, then read every value in place), value (build the
tree), to JSON and from JSON (json::v1); medians of --runs repetitions. What is decoded is compared
with what was encoded first: status 3 if it differs.)";

} // namespace

} // namespace bench

void add_bench_codec(CLI::App& app, exit_code& outcome) {
  auto options = std::make_shared<bench::codec_options>();
  auto command = app.add_subcommand("codec", "Encoding and decoding, type by type");
  command->add_option("--input", options->input, "A Zeek log, for a record of it")
      ->type_name("FILE");
  command->add_option("--runs", options->runs, "Repetitions of each measurement")
      ->check(CLI::Range(1U, 1000U))
      ->capture_default_str();
  command->add_option("--duration", options->duration_s, "Seconds of a repetition")
      ->check(CLI::Range(0.0001, 60.0))
      ->capture_default_str();
  command->add_option("--json", options->json_file, "Write all figures to FILE")->type_name("FILE");
  command->footer(bench::codec_examples);
  command->callback([options, &outcome] { outcome = bench::run_codec(*options); });
}

} // namespace pubsub::tool
