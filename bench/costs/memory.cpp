// SPDX-License-Identifier: BSD-3-Clause
#include "benchmarks.hpp"

#include "kit/process_usage.hpp"
#include "kit/progress.hpp"
#include "kit/report.hpp"
#include "stop_signal.hpp"

#include <memory>
#include <optional>

#include <fmt/format.h>

#include <pubsub/data_writer.hpp>
#include <pubsub/endpoint.hpp>

namespace pubsub::tool {

namespace bench {

namespace {

constexpr const char* memory_topic = "bench/memory";
constexpr double patience_s = 60;

struct memory_options {
  std::vector<std::size_t> payload_bytes{16, 100, 1000};
  std::vector<std::string> kinds{"encoded", "value", "received"};
  std::size_t messages = 100'000;
  std::string json_file;
};

struct memory_result {
  std::string kind;
  std::size_t payload_bytes = 0;
  double heap_bytes = 0;     // a message, payload included
  double resident_bytes = 0; // a message, payload included
  sequence_result sequence;

  double overhead() const { return heap_bytes - static_cast<double>(payload_bytes); }
};

// Fills the queue of one subscriber and looks at what it takes, then reads it empty.
class memory_run {
public:
  memory_run(const memory_options& options, const std::string& kind, std::size_t payload_bytes)
      : messages_(options.messages), text_(payload_bytes, 'x'),
        sub_(ep_.make_subscriber({memory_topic}, room_for(messages_))) {
    result_.kind = kind;
    result_.payload_bytes = payload_bytes;
  }

  expected<memory_result> run() {
    auto heap = heap_bytes();
    auto resident = resident_bytes();
    auto filled = result_.kind == "received" ? receive() : fill(ep_);
    if (!filled)
      return filled.error();
    auto each = [this](std::uint64_t after, std::uint64_t before) {
      return (static_cast<double>(after) - static_cast<double>(before)) /
             static_cast<double>(messages_);
    };
    result_.heap_bytes = each(heap_bytes(), heap);
    result_.resident_bytes = each(resident_bytes(), resident);
    check();
    return result_;
  }

private:
  static queue_options room_for(std::size_t messages) {
    queue_options room;
    room.capacity_messages = messages + 1;
    room.capacity_bytes = SIZE_MAX / 2;
    return room;
  }

  // Digits at the front of the payload tell the messages apart; short ones repeat.
  std::string_view numbered(std::uint64_t i) {
    for (std::size_t k = std::min<std::size_t>(text_.size(), 8); k > 0; --k, i /= 10)
      text_[k - 1] = static_cast<char>('0' + i % 10);
    return text_;
  }

  expected<void> fill(endpoint& source) {
    auto out = source.make_publisher(memory_topic);
    data_writer writer;
    bool values = result_.kind == "value";
    for (std::uint64_t i = 0; i < messages_; ++i) {
      writer.clear();
      writer.write_string(numbered(i));
      auto taken = values ? out.publish(data{text_}) : out.publish(writer.bytes());
      if (taken != publish_result::taken)
        return error{errc::limit_exceeded, fmt::format("message {} was not taken", i)};
    }
    return {};
  }

  // Over a peering, from an endpoint that is gone by the time of the measurement.
  expected<void> receive() {
    auto port = ep_.listen("tcp://127.0.0.1:0");
    if (!port)
      return port.error();
    endpoint source;
    if (auto peered = source.peer(fmt::format("tcp://127.0.0.1:{}", *port)); !peered)
      return peered.error();
    auto end = deadline_after(patience_s);
    if (!source.wait_for_subscribers(memory_topic, 1, left_until(end)))
      return error{errc::request_timeout, "the subscription did not arrive"};
    if (auto filled = fill(source); !filled)
      return filled;
    while (sub_.available() < messages_) {
      if (left_until(end).count() == 0)
        return error{errc::request_timeout, "not all messages arrived in a minute"};
      wait_readable(-1, deadline_after(0.01));
    }
    return {};
  }

  void check() {
    sequence_checker checker;
    std::uint64_t i = 0;
    while (const auto batch = sub_.try_get_batch())
      for (const auto& msg : *batch) {
        // Another payload than the one expected counts as missing, and this one as unexpected.
        bool as_sent = get_view(msg).as_string() == numbered(i);
        checker.visit(as_sent ? i : messages_ + i);
        ++i;
      }
    result_.sequence = checker.result(messages_);
  }

  std::size_t messages_;
  std::string text_;
  endpoint ep_;
  subscriber sub_;
  memory_result result_;
};

json_object describe(const memory_result& x) {
  json_object result;
  result.add("kind", x.kind)
      .add("payload_bytes", x.payload_bytes)
      .add("heap_bytes_per_message", x.heap_bytes)
      .add("resident_bytes_per_message", x.resident_bytes)
      .add("overhead_bytes", x.overhead());
  add_sequence(result, x.sequence);
  return result;
}

void print_row(const memory_result& x) {
  fmt::print("{:>8} {:<9} {:>11.1f} {:>10.1f} {:>15.1f}\n", x.payload_bytes, x.kind, x.heap_bytes,
             x.resident_bytes, x.overhead());
  std::fflush(stdout);
}

exit_code run_memory(const memory_options& options) {
  stop_signal stop;
  progress progress;
  auto outcome = exit_code::ok;
  std::vector<json_object> results;
  fmt::print("{:>8} {:<9} {:>11} {:>10} {:>15}\n", "payload", "messages", "heap B each",
             "RSS B each", "B above payload");
  for (auto payload : options.payload_bytes)
    for (const auto& kind : options.kinds) {
      if (stop.requested()) {
        complain("interrupted");
        return exit_code::usage;
      }
      if (progress.due(clock::now()))
        progress.show(fmt::format("{} bytes, {}", payload, kind));
      auto result = memory_run{options, kind, payload}.run();
      if (!result)
        return fail(result.error());
      print_row(*result);
      if (!result->sequence.perfect()) {
        complain(fmt::format("of {} messages {} came out as they went in",
                             result->sequence.published, result->sequence.delivered));
        outcome = exit_code::loss;
      }
      results.push_back(describe(*result));
    }
  json_object params;
  params.add("messages", options.messages);
  auto saved = save_report(options.json_file, "memory", params, results);
  return saved != exit_code::ok ? saved : outcome;
}

constexpr const char* memory_examples = R"(Examples:
  pubsub bench memory
      what a message of 16, 100 and 1000 bytes takes while it waits in a subscriber's queue
  pubsub bench memory --payload 100 --messages 1000000 --kinds encoded --json memory.json
Kinds: encoded (published as bytes), value (published as a tree), received (over a peering). Figures
are bytes a message by the allocator's own count, with everything: queue, topic, envelope, headers
of heap blocks; RSS is what the process grew by. Status 3 if a message does not come out again.)";

} // namespace

} // namespace bench

void add_bench_memory(CLI::App& app, exit_code& outcome) {
  auto options = std::make_shared<bench::memory_options>();
  auto command = app.add_subcommand("memory", "Memory of a message that waits in a queue");
  command->add_option("--payload", options->payload_bytes, "Bytes of text in a message")
      ->delimiter(',')
      ->check(CLI::Range(0U, 1U << 20))
      ->capture_default_str();
  command->add_option("--kinds", options->kinds, "encoded, value, received")
      ->delimiter(',')
      ->check(CLI::IsMember({"encoded", "value", "received"}))
      ->capture_default_str();
  command->add_option("--messages", options->messages, "Messages in the queue")
      ->check(CLI::Range(1U, 100'000'000U))
      ->capture_default_str();
  command->add_option("--json", options->json_file, "Write all figures to FILE")->type_name("FILE");
  command->footer(bench::memory_examples);
  command->callback([options, &outcome] { outcome = bench::run_memory(*options); });
}

} // namespace pubsub::tool
