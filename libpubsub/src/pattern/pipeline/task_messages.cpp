#include "pattern/pipeline/task_messages.hpp"

#include <algorithm>

#include "pattern/mailbox/pattern_topic.hpp"

namespace pubsub::pattern {

namespace {

std::string topic(std::string_view kind, std::string_view name) {
  return pattern_topic("pipeline", kind, name);
}

} // namespace

bool tasks_view::adds_up() const {
  std::uint64_t n = 0;
  for (const auto& each : numbers)
    n += std::min<std::uint64_t>(each.count, std::uint64_t{1} << 32);
  const auto size = values.size();
  return n == size && at.first + size >= at.first;
}

void write_tasks(data_writer& out, const batch_position& at, const task_batch& tasks) {
  out.begin_vector(10);
  out.write_count(tasks_view::kind);
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
