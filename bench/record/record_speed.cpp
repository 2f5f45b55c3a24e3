// `pubsub bench record`: how fast a stream goes to a file, beside what the disk takes.
// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks.hpp"

#include "kit/progress.hpp"
#include "kit/report.hpp"
#include "kit/scratch_folder.hpp"
#include "stop_signal.hpp"
#include "stream/payloads.hpp"
#include "stream/sequence_checker.hpp"

#include <algorithm>
#include <memory>
#include <random>
#include <thread>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <pubsub/data_writer.hpp>
#include <pubsub/endpoint.hpp>
#include <pubsub/record/reader.hpp>
#include <pubsub/record/writer.hpp>

namespace pubsub::tool {

namespace bench {

namespace {

constexpr const char* record_topic = "bench/record";
constexpr std::size_t block_bytes = 1024 * 1024; // of what is written to the disk at once

struct record_options {
  std::size_t payload_bytes = 100;
  std::string input;
  std::uint64_t messages = 3'000'000;
  std::vector<int> levels{1, 0};
  unsigned rounds = 3;
  std::string folder;
  std::string json_file;
};

/// Payloads that do not repeat within a chunk, and that nothing can compress.
class random_payloads {
public:
  explicit random_payloads(std::size_t payload_bytes)
      : payload_bytes_(payload_bytes), bytes_(16 * block_bytes + payload_bytes, '\0') {
    std::mt19937_64 random{1};
    for (auto& each : bytes_)
      each = static_cast<char>(random());
  }

  std::string_view operator[](std::uint64_t i) const noexcept {
    const auto places = (bytes_.size() - payload_bytes_) / std::max<std::size_t>(payload_bytes_, 1);
    return std::string_view{bytes_}.substr(i % places * payload_bytes_, payload_bytes_);
  }

private:
  std::size_t payload_bytes_;
  std::string bytes_;
};

/// What messages carry: random bytes, or the records of a log in a cycle.
class contents {
public:
  explicit contents(std::size_t payload_bytes) : random_(std::in_place, payload_bytes) {}
  explicit contents(payloads records) : records_(std::move(records)) {}

  void write(data_writer& to, std::uint64_t i) const {
    if (records_)
      to.write_encoded((*records_)[i % records_->size()]);
    else
      to.write_string((*random_)[i]);
  }

private:
  std::optional<random_payloads> random_;
  std::optional<payloads> records_;
};

double seconds_since(clock::time_point begin) {
  return std::chrono::duration<double>(clock::now() - begin).count();
}

expected<void> sync_file(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  const bool done = fd >= 0 && ::fdatasync(fd) == 0;
  if (fd >= 0)
    ::close(fd);
  if (!done)
    return error{errc::cannot_write_file, path + " cannot be written to the disk"};
  return {};
}

/// Messages a second, and bytes of the file.
struct recorded_run {
  double msgs_per_s = 0;
  std::uint64_t file_bytes = 0;
  sequence_result sequence;
};

/// One stream at full speed, in one process, until the disk has all of it.
class recording_run {
public:
  recording_run(const record_options& options, const contents& what, int level, std::string path)
      : options_(options), what_(what), level_(level), path_(std::move(path)),
        sub_(ep_.make_subscriber({record_topic})) {}

  expected<recorded_run> run() {
    record::writer_options how;
    how.chunks.compression_level = level_;
    auto writer = record::writer::open(path_, how);
    if (!writer)
      return writer.error();
    const auto begin = clock::now();
    std::thread publishing{[this] { publish(); }};
    auto written = write_all(*writer);
    if (!written)
      ep_.close(); // so that the publisher does not wait
    publishing.join();
    if (written)
      written = writer->close();
    if (written)
      written = sync_file(path_);
    if (!written)
      return written.error();
    recorded_run result;
    result.msgs_per_s = static_cast<double>(options_.messages) / seconds_since(begin);
    result.file_bytes = writer->totals().file_bytes;
    result.sequence = read_back();
    return result;
  }

private:
  void publish() {
    auto out = ep_.make_publisher(record_topic);
    data_writer writer;
    for (std::uint64_t i = 0; i < options_.messages; ++i) {
      writer.clear();
      writer.begin_vector(2);
      writer.write_count(i);
      what_.write(writer, i);
      if (out.publish(writer.bytes()) == publish_result::refused)
        return;
    }
  }

  expected<void> write_all(record::writer& to) {
    constexpr std::size_t batch_messages = 4096;
    std::vector<data_message> batch;
    while (to.totals().messages < options_.messages) {
      batch.clear();
      if (sub_.get_batch_for(batch, batch_messages, std::chrono::seconds{30}) !=
          receive_status::received)
        return error{errc::request_timeout, "no message came in 30 seconds"};
      if (auto written = to.write(batch); !written)
        return written;
    }
    return {};
  }

  sequence_result read_back() {
    sequence_checker checker;
    auto reader = record::reader::open(path_);
    while (reader) {
      const auto msg = reader->next();
      if (!msg || !*msg)
        break;
      const auto value = record::view_of(**msg);
      if (value && value->type() == data_type::vector)
        checker.visit((*value->elements().begin()).as_count());
    }
    return checker.result(options_.messages);
  }

  const record_options& options_;
  const contents& what_;
  int level_;
  std::string path_;
  endpoint ep_;
  subscriber sub_;
};

/// Bytes a second of plain writing, a block at a time, until the disk has all of it.
expected<double> plain_writing(const std::string& path, std::uint64_t bytes) {
  std::mt19937_64 random{2};
  std::string block(block_bytes, '\0');
  for (auto& each : block)
    each = static_cast<char>(random());
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (fd < 0)
    return error{errc::cannot_write_file, path + " cannot be written"};
  const auto begin = clock::now();
  bool well = true;
  for (std::uint64_t done = 0; well && done < bytes; done += block_bytes) {
    const auto size = std::min<std::uint64_t>(block_bytes, bytes - done);
    well = ::write(fd, block.data(), size) == static_cast<::ssize_t>(size);
  }
  well = well && ::fdatasync(fd) == 0;
  const auto seconds = seconds_since(begin);
  ::close(fd);
  ::unlink(path.c_str());
  if (!well)
    return error{errc::cannot_write_file, path + " cannot be written to the disk"};
  return static_cast<double>(bytes) / seconds;
}

struct level_result {
  int level = 0;
  std::uint64_t file_bytes = 0;
  rate_statistics msgs_per_s;
  rate_statistics bytes_per_s;
  rate_statistics disk_bytes_per_s;
  sequence_result sequence;

  double ratio() const { return bytes_per_s.median / disk_bytes_per_s.median; }
};

expected<level_result> measure(const record_options& options, const contents& what, int level,
                               const std::string& folder) {
  level_result result;
  result.level = level;
  std::vector<double> rates;
  std::vector<double> bytes;
  std::vector<double> disk;
  for (unsigned i = 0; i < options.rounds; ++i) {
    const auto path = folder + "/record.mcap";
    auto found = recording_run{options, what, level, path}.run();
    ::unlink(path.c_str());
    if (!found)
      return found.error();
    const auto limit = plain_writing(folder + "/plain", found->file_bytes);
    if (!limit)
      return limit.error();
    rates.push_back(found->msgs_per_s);
    bytes.push_back(found->msgs_per_s * static_cast<double>(found->file_bytes) /
                    static_cast<double>(options.messages));
    disk.push_back(*limit);
    result.file_bytes = found->file_bytes;
    if (i == 0 || !found->sequence.perfect())
      result.sequence = found->sequence;
  }
  result.msgs_per_s = rate_statistics::of(std::move(rates));
  result.bytes_per_s = rate_statistics::of(std::move(bytes));
  result.disk_bytes_per_s = rate_statistics::of(std::move(disk));
  return result;
}

json_object describe(const level_result& x, const record_options& options) {
  json_object result;
  result.add("level", static_cast<unsigned>(x.level))
      .add("payload_bytes", options.payload_bytes)
      .add("file_bytes", x.file_bytes)
      .add("msgs_per_s", describe(x.msgs_per_s))
      .add("bytes_per_s", describe(x.bytes_per_s))
      .add("disk_bytes_per_s", describe(x.disk_bytes_per_s))
      .add("ratio_to_disk", x.ratio());
  add_sequence(result, x.sequence);
  return result;
}

expected<contents> contents_of(const record_options& options) {
  if (options.input.empty())
    return contents{options.payload_bytes};
  auto records = payloads::from_file(options.input);
  if (!records)
    return records.error();
  return contents{std::move(*records)};
}

exit_code run_record(const record_options& options) {
  stop_signal stop;
  const scratch_folder scratch;
  const auto folder = options.folder.empty() ? scratch.path() : options.folder;
  const auto what = contents_of(options);
  if (!what)
    return fail(what.error());
  auto outcome = exit_code::ok;
  std::vector<json_object> results;
  fmt::print("{:>6} {:>12} {:>10} {:>10} {:>10} {:>9}\n", "level", "msgs/s", "file MB", "MB/s",
             "disk MB/s", "to disk");
  for (const int level : options.levels) {
    if (stop.requested()) {
      complain("interrupted");
      return exit_code::usage;
    }
    const auto result = measure(options, *what, level, folder);
    if (!result)
      return fail(result.error());
    fmt::print("{:>6} {:>12.0f} {:>10.1f} {:>10.1f} {:>10.1f} {:>9.2f}\n", level,
               result->msgs_per_s.median, static_cast<double>(result->file_bytes) / 1e6,
               result->bytes_per_s.median / 1e6, result->disk_bytes_per_s.median / 1e6,
               result->ratio());
    std::fflush(stdout);
    if (!result->sequence.perfect()) {
      complain(fmt::format("of {} messages {} were read back", result->sequence.published,
                           result->sequence.delivered));
      outcome = exit_code::loss;
    }
    results.push_back(describe(*result, options));
  }
  json_object params;
  params.add("messages", options.messages)
      .add("rounds", options.rounds)
      .add("input", options.input);
  const auto saved = save_report(options.json_file, "record", params, results);
  return saved != exit_code::ok ? saved : outcome;
}

constexpr const char* record_examples = R"(Examples:
  pubsub bench record
      a stream of messages of 100 random bytes at full speed into a file, with zstd and without, beside
      plain writing of as many bytes; both until the disk has them
  pubsub bench record --input conn.log
      the records of a Zeek log, which zstd compresses
  pubsub bench record --folder /var/tmp --messages 10000000 --levels 0,1,3 --json record.json
Random bytes are the worst case: nothing can compress them. All messages are read back and checked;
status 3 if one is missing.)";

} // namespace

} // namespace bench

void add_bench_record(CLI::App& bench, exit_code& outcome) {
  auto options = std::make_shared<bench::record_options>();
  auto* const command =
      bench.add_subcommand("record", "Recording a stream to a file, beside the disk");
  command->add_option("--payload", options->payload_bytes, "Bytes of a message")
      ->check(CLI::Range(1U, 1U << 20))
      ->capture_default_str();
  command
      ->add_option("--input", options->input,
                   "Records of this Zeek log, or event dump (.jsonl), instead of random bytes")
      ->type_name("FILE");
  command->add_option("--messages", options->messages, "Messages in a round")
      ->check(CLI::Range(1U, 1'000'000'000U))
      ->capture_default_str();
  command->add_option("--levels", options->levels, "Levels of compression; 0: none")
      ->delimiter(',')
      ->check(CLI::Range(0, 19))
      ->capture_default_str();
  command->add_option("--rounds", options->rounds, "Rounds a level")
      ->check(CLI::Range(1U, 1000U))
      ->capture_default_str();
  command->add_option("--folder", options->folder, "Where the files are written; default: /tmp")
      ->type_name("FOLDER");
  command->add_option("--json", options->json_file, "Write all figures to FILE")->type_name("FILE");
  command->footer(bench::record_examples);
  command->callback([options, &outcome] { outcome = bench::run_record(*options); });
}

} // namespace pubsub::tool
