// What a sink takes: messages of a subscriber, or tasks of a queue, seen alike.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <variant>
#include <vector>

#include <pubsub/bridge/sink.hpp>
#include <pubsub/data_message.hpp>
#include <pubsub/pattern/pipeline.hpp>
#include <pubsub/subscriber.hpp>

#include "bridge/engine/engine_record.hpp"

namespace pubsub::bridge {

/// A message or a task. Moving it leaves the bytes of its value where they are.
class input_item {
public:
  input_item(data_message msg, provenance from, bool own)
      : what_(std::move(msg)), from_(std::move(from)), own_(own) {}
  input_item(task one, provenance from) : what_(std::move(one)), from_(std::move(from)) {}

  data_view value() const {
    const auto* const msg = std::get_if<data_message>(&what_);
    return msg != nullptr ? get_view(*msg) : std::get<task>(what_).value();
  }
  const provenance& from() const noexcept { return from_; }
  /// Whether it is a message of this endpoint that is to be left out.
  bool is_own() const noexcept { return own_; }
  bool is_task() const noexcept { return std::holds_alternative<task>(what_); }
  /// The task, if it is one: to be done, or to be rejected by destroying it.
  task* as_task() noexcept { return std::get_if<task>(&what_); }

private:
  std::variant<data_message, task> what_;
  provenance from_;
  bool own_ = false;
};

/// One thread takes, any thread asks.
class sink_input {
public:
  /// `order`: of tasks. Errors: shutting_down.
  static expected<sink_input> open(endpoint& at, const sink_options& options, task_order order);

  /// Appends what is here, `max` at most, without waiting. `closed` if nothing more comes.
  receive_status take(std::vector<input_item>& out, std::size_t max);
  /// Readable while there may be something to take.
  int fd() const;
  std::size_t available() const;
  bool wait_ready(std::chrono::nanoseconds timeout);
  void close();

private:
  explicit sink_input(subscriber from, bool except_own, const endpoint_id& own)
      : from_(std::move(from)), except_own_(except_own), own_(own) {}
  explicit sink_input(task_queue from, std::string pipeline)
      : from_(std::move(from)), pipeline_(std::move(pipeline)) {}

  receive_status take_messages(subscriber& from, std::vector<input_item>& out, std::size_t max);
  receive_status take_tasks(task_queue& from, std::vector<input_item>& out, std::size_t max);

  std::variant<subscriber, task_queue> from_;
  shared_text pipeline_;
  bool except_own_ = false;
  endpoint_id own_;
  origin_cursor cursor_;
  std::vector<data_message> batch_;
  message_origin last_origin_;   // whose text is
  shared_text last_origin_text_; // of the endpoint and the stream
  shared_text last_topic_;
};

} // namespace pubsub::bridge
