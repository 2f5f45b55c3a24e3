// Records to Kafka, each confirmed by itself.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include "bridge/kafka/kafka_producer.hpp"

namespace pubsub::bridge {

class kafka_writer final : public engine_writer {
public:
  explicit kafka_writer(std::unique_ptr<kafka_producer> to) : to_(std::move(to)) {}

  bool write(engine_record& what) override { return to_->produce(what); }
  std::size_t write_all(std::span<engine_record> records) override {
    return to_->produce_all(records);
  }
  void poll(const settle_record& settle) override;
  int fd() const override { return to_->fd(); }
  error failure() const override { return to_->failure(); }
  std::string last_problem() const override { return to_->last_problem(); }
  std::string usable_name(std::string_view name) const override { return usable_kafka_name(name); }

private:
  std::unique_ptr<kafka_producer> to_;
};

} // namespace pubsub::bridge
