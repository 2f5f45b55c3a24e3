// Hands records to librdkafka, and tells what became of them.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "bridge/engine/engine_writer.hpp"
#include "bridge/kafka/kafka_client.hpp"

namespace pubsub::bridge {

/// What became of a record, as the library has told it.
struct delivery_report {
  std::uint64_t number;
  rd_kafka_resp_err_t error;
  std::size_t bytes;
};

/// A producer that writes each record once, in order, whatever is sent again. One thread has it.
class kafka_producer {
public:
  /// Errors: invalid_argument.
  static expected<std::unique_ptr<kafka_producer>> make(const kafka& options);
  kafka_producer(const kafka_producer&) = delete;
  kafka_producer& operator=(const kafka_producer&) = delete;
  ~kafka_producer();

  /// False where the library's queue is full. What it does not take otherwise is reported. A
  /// payload that is lent is not copied: the library reads it until the record is reported, or this
  /// producer is gone.
  bool produce(const engine_record& what);
  /// As `produce`, one after the other, as long as there is room. How many were taken.
  std::size_t produce_all(std::span<const engine_record> records);
  /// What was reported since the last call; valid until the next one.
  const std::vector<delivery_report>& reports();

  rd_kafka_t* client() const noexcept { return client_.get(); }
  int fd() const noexcept { return event_->fd(); }
  error failure() const;
  std::string last_problem() const { return listener_->last(); }
  void note_problem(std::string what) { listener_->note(std::move(what)); }

private:
  kafka_producer() = default;
  rd_kafka_topic_t* topic(std::string_view name);
  std::size_t produce_together(std::span<const engine_record> records);
  void refuse(const engine_record& what, rd_kafka_resp_err_t error, std::string why);
  static void on_report(rd_kafka_t*, const rd_kafka_message_t* about, void* opaque);

  /// What the library calls back with.
  struct listener : kafka_problems {
    std::vector<delivery_report> reports;
  };

  std::unique_ptr<listener> listener_ = std::make_unique<listener>();
  kafka_handle client_;
  kafka_queue queue_;
  std::unique_ptr<kafka_event> event_;
  std::map<std::string, kafka_topic, std::less<>> topics_;
  std::vector<rd_kafka_message_t> together_; // what the library is handed at once
  std::vector<delivery_report> reports_;     // that were given out
};

/// What the report means for who has sent the record.
outcome outcome_of(rd_kafka_resp_err_t error) noexcept;
/// Letters, digits, `.`, `_` and `-`; at most 249 of them.
std::string usable_kafka_name(std::string_view name);

} // namespace pubsub::bridge
