// Tasks to Kafka in transactions: with them goes how far their sources have come.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bridge/kafka/kafka_producer.hpp"

namespace pubsub::bridge {

/// The last number of each source.
using positions_by_source = std::map<std::string, std::uint64_t, std::less<>>;

/// Collects records, and commits them together with the last number of every source among them, by
/// source, to the topic of positions. What is aborted is written again in the next transaction. A
/// new writer ends the transactions of an older one with the same id before it reads the positions:
/// so it knows every task that readers of committed records can see.
class kafka_transactions final : public engine_writer {
public:
  kafka_transactions(std::unique_ptr<kafka_producer> to, const kafka& options)
      : to_(std::move(to)), options_(options) {}
  ~kafka_transactions() override;

  bool write(engine_record& what) override;
  bool is_there(std::string_view origin, std::uint64_t sequence) override;
  void poll(const settle_record& settle) override;
  int fd() const override { return to_->fd(); }
  clock::time_point due() const override;
  void hurry() override { hurried_ = true; }
  error failure() const override;
  std::string last_problem() const override { return to_->last_problem(); }
  std::string usable_name(std::string_view name) const override { return usable_kafka_name(name); }

private:
  enum class stage : unsigned char { unknown, alone, ready, open, committing, aborting };
  struct written_record {
    engine_record what;
    bool again = false; // the task is in the transaction already: it came twice
    rd_kafka_resp_err_t refused = RD_KAFKA_RESP_ERR_NO_ERROR;
  };

  /// How far a source has come with this transaction, and the item that brought the last task.
  struct reached {
    std::uint64_t sequence;
    std::uint64_t number;
  };

  bool is_in_transaction(const engine_record& what) const;
  void begin();
  void learn_positions();
  bool open_transaction();
  void write_positions();
  void commit(const settle_record& settle);
  void abort();
  void write_again();
  void settle_batch(const settle_record& settle);
  void take_reports();
  bool proceed(rd_kafka_error_t* result);

  std::unique_ptr<kafka_producer> to_;
  const kafka options_;
  stage stage_ = stage::unknown;
  std::vector<written_record> batch_;
  std::size_t batch_bytes_ = 0;
  clock::time_point commit_at_ = clock::time_point::max();
  clock::time_point again_at_{};
  bool hurried_ = false;
  bool positions_written_ = false;
  std::map<std::string, reached, std::less<>> reached_; // in the transaction, by source
  positions_by_source positions_;                       // committed
  error failure_;
};

/// What transactions have left in the topic of positions; nothing where there is no such topic.
/// Waits for the brokers, at most so long. Errors: request_timeout, invalid_argument.
expected<std::optional<positions_by_source>> read_positions(const kafka& options,
                                                            std::chrono::milliseconds timeout);
/// Makes that topic.
void make_positions_topic(rd_kafka_t* client, const std::string& name);

} // namespace pubsub::bridge
