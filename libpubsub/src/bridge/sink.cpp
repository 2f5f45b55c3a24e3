// SPDX-License-Identifier: BSD-3-Clause
#include <pubsub/bridge/sink.hpp>

#include <utility>

#include "bridge/engines.hpp"
#include "bridge/mapping/message_mapper.hpp"
#include "bridge/sink_worker.hpp"

namespace pubsub::bridge {

expected<void> check(const sink_options& options, const engine& to) {
  if (options.topics.empty() == options.pipeline.empty())
    return wrong_option("topics, pipeline: one of the two says what to take");
  if (!options.pipeline.empty() && options.where)
    return wrong_option("where: tasks of a pipeline are not chosen by conditions");
  if (options.close_timeout < std::chrono::nanoseconds{0})
    return wrong_option("close_timeout: not negative");
  if (writes_in_order(to) && options.pipeline.empty())
    return wrong_option("transactional_id: only tasks of a pipeline come again after a restart");
  if (auto ok = check(options.queue); !ok)
    return ok;
  if (auto mapper = message_mapper::make(options, {}); !mapper)
    return mapper.error();
  return check_writer(to);
}

expected<sink> sink::open(const endpoint& at, engine to, sink_options options) {
  auto worker = sink_worker::start(at, to, options);
  if (!worker)
    return worker.error();
  return sink{std::move(*worker)};
}

sink::sink(std::shared_ptr<sink_worker> worker) noexcept : worker_(std::move(worker)) {}
sink::sink(sink&&) noexcept = default;
sink& sink::operator=(sink&& other) noexcept {
  worker_.swap(other.worker_);
  return *this;
}
sink::~sink() {
  if (worker_ != nullptr)
    worker_->close();
}

bool sink::wait_ready(std::chrono::nanoseconds timeout) {
  return worker_->wait_ready(timeout);
}
bridge_counters sink::counters() const {
  return worker_->counters();
}
std::size_t sink::drain(std::chrono::nanoseconds timeout) {
  return worker_->drain(timeout);
}
bool sink::closed() const {
  return worker_->closed();
}
error sink::failure() const {
  return worker_->failure();
}
std::string sink::last_problem() const {
  return worker_->last_problem();
}
void sink::close() {
  worker_->close();
}

} // namespace pubsub::bridge
