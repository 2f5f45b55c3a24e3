// Reads a stream of a NATS server, alone or as one of several with the same durable consumer.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "bridge/engine/engine_reader.hpp"
#include "bridge/jetstream/nats_link.hpp"
#include "bridge/jetstream/pull_consumer.hpp"

namespace pubsub::bridge {

class jetstream_reader final : public engine_reader {
public:
  jetstream_reader(std::unique_ptr<nats_link> link, std::vector<pull_options> consumers);
  ~jetstream_reader() override;

  void fetch(std::vector<fetched_record>& out, std::size_t max,
             std::chrono::milliseconds timeout) override;
  bool commit() override;
  bool at_end() const override;
  std::uint64_t lag() const override;
  error failure() const override;
  std::string last_problem() const override;

private:
  void step(std::size_t max);

  std::unique_ptr<nats_link> link_;
  std::deque<pull_consumer> consumers_;
  std::uint64_t generation_ = 0;
};

} // namespace pubsub::bridge
