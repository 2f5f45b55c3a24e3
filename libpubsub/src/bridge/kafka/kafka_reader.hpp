// Records of Kafka's topics, by a group or all of them.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <pubsub/bridge/source.hpp>

#include "bridge/engine/engine_reader.hpp"
#include "bridge/kafka/kafka_client.hpp"

namespace pubsub::bridge {

class kafka_reader final : public engine_reader {
public:
  /// Errors: invalid_argument.
  static expected<std::unique_ptr<kafka_reader>> make(const kafka& from,
                                                      const source_options& options);
  ~kafka_reader() override;

  void fetch(std::vector<fetched_record>& out, std::size_t max,
             std::chrono::milliseconds timeout) override;
  bool commit() override;
  bool at_end() const override;
  std::uint64_t lag() const override;
  error failure() const override { return failure_; }
  std::string last_problem() const override { return listener_->last(); }

private:
  using partition = std::pair<std::string, std::int32_t>;
  /// What the library calls back with.
  struct listener : kafka_problems {
    start_position start;
    bool in_group = false;
    bool placed = false; // where to begin counts once
    std::set<partition> assigned;
    std::set<partition> at_end;
    std::map<partition, std::int64_t> next; // behind what was fetched
    std::map<partition, std::int64_t> committed;
  };

  kafka_reader() = default;
  static void on_rebalance(rd_kafka_t* client, rd_kafka_resp_err_t what,
                           rd_kafka_topic_partition_list_t* partitions, void* opaque);
  static void place(rd_kafka_t* client, rd_kafka_topic_partition_list_t& partitions,
                    const start_position& start);
  void take(rd_kafka_message_t& from, std::vector<fetched_record>& out);

  std::unique_ptr<listener> listener_ = std::make_unique<listener>();
  kafka_handle client_;
  error failure_;
};

} // namespace pubsub::bridge
