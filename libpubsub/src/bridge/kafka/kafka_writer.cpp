// SPDX-License-Identifier: BSD-3-Clause
#include "bridge/kafka/kafka_writer.hpp"

namespace pubsub::bridge {

void kafka_writer::poll(const settle_record& settle) {
  for (const auto& each : to_->reports())
    settle(each.number, outcome_of(each.error), each.bytes,
           each.error == RD_KAFKA_RESP_ERR_NO_ERROR ? "" : rd_kafka_err2str(each.error));
}

} // namespace pubsub::bridge
