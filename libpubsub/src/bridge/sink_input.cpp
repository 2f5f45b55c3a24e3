// SPDX-License-Identifier: BSD-3-Clause
#include "bridge/sink_input.hpp"

#include <utility>

namespace pubsub::bridge {

expected<sink_input> sink_input::open(endpoint& at, const sink_options& options, task_order order) {
  if (options.pipeline.empty()) {
    auto from = options.where ? at.make_subscriber(options.topics, *options.where, options.queue)
                              : at.make_subscriber(options.topics, options.queue);
    if (from.closed())
      return error{errc::shutting_down, "the endpoint is closed"};
    return sink_input{std::move(from), options.except_own, at.id()};
  }
  task_queue_options how;
  how.order = order;
  how.batch_tasks = 1'000; // they are acknowledged when the engine has confirmed many, too
  auto from = task_queue::open(at, options.pipeline, how);
  if (!from)
    return from.error();
  from->bind(options.pipeline);
  return sink_input{std::move(*from), options.pipeline};
}

receive_status sink_input::take(std::vector<input_item>& out, std::size_t max) {
  if (auto* const messages = std::get_if<subscriber>(&from_))
    return take_messages(*messages, out, max);
  return take_tasks(std::get<task_queue>(from_), out, max);
}

receive_status sink_input::take_messages(subscriber& from, std::vector<input_item>& out,
                                         std::size_t max) {
  batch_.clear();
  const auto status = from.get_batch_for(batch_, max, std::chrono::nanoseconds{0});
  for (auto& each : batch_) {
    provenance whence;
    if (last_topic_ != get_topic(each))
      last_topic_ = get_topic(each);
    whence.topic = last_topic_;
    if (const auto origin = cursor_.origin_of(each)) {
      if (last_origin_text_.empty() || origin->endpoint != last_origin_.endpoint ||
          origin->stream != last_origin_.stream)
        last_origin_text_ = to_string(origin->endpoint) + '/' + std::to_string(origin->stream);
      last_origin_ = *origin;
      whence.origin = last_origin_text_;
      whence.sequence = origin->sequence;
    }
    const auto publisher = except_own_ ? get_publishing_endpoint(each) : std::nullopt;
    out.emplace_back(std::move(each), std::move(whence), publisher == own_);
  }
  return status;
}

receive_status sink_input::take_tasks(task_queue& from, std::vector<input_item>& out,
                                      std::size_t max) {
  auto tasks = from.get_batch_for(max, std::chrono::nanoseconds{0});
  if (!tasks)
    return tasks.status();
  for (auto& each : *tasks) {
    provenance whence;
    whence.topic = pipeline_;
    if (last_origin_text_.empty() || each.source() != last_origin_.endpoint)
      last_origin_text_ = to_string(each.source());
    last_origin_.endpoint = each.source();
    whence.origin = last_origin_text_;
    whence.sequence = each.number();
    whence.redelivered = each.redelivered();
    out.emplace_back(std::move(each), std::move(whence));
  }
  return receive_status::received;
}

int sink_input::fd() const {
  return std::visit([](const auto& from) { return from.fd(); }, from_);
}

std::size_t sink_input::available() const {
  return std::visit([](const auto& from) { return from.available(); }, from_);
}

bool sink_input::wait_ready(std::chrono::nanoseconds timeout) {
  if (auto* const messages = std::get_if<subscriber>(&from_))
    return messages->wait_ready(timeout);
  return std::get<task_queue>(from_).wait_for_exchanges(1, timeout);
}

void sink_input::close() {
  std::visit([](auto& from) { from.close(); }, from_);
}

} // namespace pubsub::bridge
