#include "pattern/pipeline/task_messages.hpp"

#include <algorithm>

#include "pattern/mailbox/field_reader.hpp"
#include "pattern/mailbox/field_writer.hpp"

namespace pubsub::pattern {

namespace {

void begin(data_writer& out, message_kind kind, std::size_t fields) {
  out.begin_vector(1 + fields);
  out.write_count(static_cast<std::uint64_t>(kind));
}

bool begins(field_reader& in, message_kind wanted) {
  std::uint64_t kind = 0;
  return in.read(kind) && kind == static_cast<std::uint64_t>(wanted);
}

std::string topic(std::string_view kind, std::string_view name) {
  return "pipeline/" + std::string{kind} + "/" + std::string{name} + "/";
}

} // namespace

void write_tasks(data_writer& out, const tasks_place& at, const task_batch& tasks) {
  begin(out, message_kind::tasks, 9);
  write_id(out, at.exchange);
  out.write_count(at.first);
  out.write_count(at.settled);
  out.write_boolean(at.urgent);
  out.write_boolean(tasks.redelivered);
  out.write_boolean(tasks.direct);
  write_id(out, tasks.source);
  write_runs(out, tasks.numbers.runs());
  out.begin_vector(tasks.size());
  out.write_encoded(tasks.values.bytes());
}

void write_report(data_writer& out, const queue_report& x) {
  begin(out, message_kind::report, 10);
  write_id(out, x.queue);
  out.write_count(x.credit);
  out.write_count(x.concurrency);
  out.write_count(x.received);
  out.write_count(x.taken);
  out.write_count(x.timed);
  out.write_count(x.busy_ns);
  out.write_count(x.done);
  write_runs(out, x.done_above);
  write_runs(out, x.rejected);
}

void write_invitation(data_writer& out, const invitation& x) {
  begin(out, message_kind::invitation, 1);
  write_id(out, x.exchange);
}

void write_progress(data_writer& out, const progress_report& x) {
  begin(out, message_kind::progress, 2);
  write_id(out, x.source);
  out.write_count(x.below);
}

void write_completion(data_writer& out, const completion& x) {
  begin(out, message_kind::completion, 1);
  write_runs(out, x.numbers);
}

void write_claim(data_writer& out, const claim& x) {
  begin(out, message_kind::claim, 2);
  write_id(out, x.exchange);
  out.write_count(x.age_ns);
}

std::optional<message_kind> kind_of(const data_view& value) noexcept {
  field_reader in{value};
  std::uint64_t kind = 0;
  if (!in.read(kind) || kind < 1 || kind > 6)
    return {};
  return static_cast<message_kind>(kind);
}

std::optional<tasks_view> parse_tasks(const data_view& value) {
  field_reader in{value};
  tasks_view result;
  if (!begins(in, message_kind::tasks) || !in.read(result.exchange) || !in.read(result.first) ||
      !in.read(result.settled) || !in.read(result.urgent) || !in.read(result.redelivered) ||
      !in.read(result.direct) || !in.read(result.source) || !in.read(result.numbers) ||
      !in.read(result.values) || !in.at_end())
    return {};
  std::uint64_t numbers = 0;
  for (const auto& each : result.numbers)
    numbers += std::min<std::uint64_t>(each.count, std::uint64_t{1} << 32);
  const auto size = result.values.size();
  if (numbers != size || result.first + size < result.first)
    return {};
  return result;
}

std::optional<queue_report> parse_report(const data_view& value) {
  field_reader in{value};
  queue_report result;
  if (!begins(in, message_kind::report) || !in.read(result.queue) || !in.read(result.credit) ||
      !in.read(result.concurrency) || !in.read(result.received) || !in.read(result.taken) ||
      !in.read(result.timed) || !in.read(result.busy_ns) || !in.read(result.done) ||
      !in.read(result.done_above) || !in.read(result.rejected) || !in.at_end())
    return {};
  return result;
}

std::optional<invitation> parse_invitation(const data_view& value) {
  field_reader in{value};
  invitation result;
  if (!begins(in, message_kind::invitation) || !in.read(result.exchange) || !in.at_end())
    return {};
  return result;
}

std::optional<progress_report> parse_progress(const data_view& value) {
  field_reader in{value};
  progress_report result;
  if (!begins(in, message_kind::progress) || !in.read(result.source) || !in.read(result.below) ||
      !in.at_end())
    return {};
  return result;
}

std::optional<completion> parse_completion(const data_view& value) {
  field_reader in{value};
  completion result;
  if (!begins(in, message_kind::completion) || !in.read(result.numbers) || !in.at_end())
    return {};
  return result;
}

std::optional<claim> parse_claim(const data_view& value) {
  field_reader in{value};
  claim result;
  if (!begins(in, message_kind::claim) || !in.read(result.exchange) || !in.read(result.age_ns) ||
      !in.at_end())
    return {};
  return result;
}

std::string topic_of_exchange_name(std::string_view name) {
  return topic("exchange-name", name);
}

std::string topic_of_queue_name(std::string_view name) {
  return topic("queue-name", name);
}

std::string topic_of_exchange(const endpoint_id& id) {
  return topic("exchange", to_string(id));
}

std::string topic_of_queue(const endpoint_id& id) {
  return topic("queue", to_string(id));
}

std::string_view topic_of_progress() noexcept {
  return "pipeline/progress/";
}

std::string topic_of_progress(const endpoint_id& source) {
  return topic("progress", to_string(source));
}

} // namespace pubsub::pattern
