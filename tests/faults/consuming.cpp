// SPDX-License-Identifier: BSD-3-Clause
#include "consuming.hpp"

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

namespace faults {

namespace {
using namespace std::chrono_literals;
constexpr std::size_t batch_messages = 1'024;
constexpr auto look_up = 50ms;
} // namespace

consuming::consuming(pubsub::endpoint& node, const pubsub::filter& topics,
                     const pubsub::queue_options& options, std::uint64_t per_second, planted fault)
    : in_(node.make_subscriber(topics, options)), per_second_(per_second), fault_(fault),
      thread_([this] { run(); }) {}

void consuming::run() {
  const auto begin = std::chrono::steady_clock::now();
  const auto at_once = per_second_ == 0
                           ? batch_messages
                           : std::clamp<std::size_t>(per_second_ / 100, 1, batch_messages);
  std::vector<pubsub::data_message> batch;
  while (true) {
    batch.clear();
    const auto status = in_.get_batch_for(batch, at_once, look_up);
    if (status == pubsub::receive_status::closed)
      return;
    std::unique_lock lock{mutex_};
    for (const auto& msg : batch)
      write_down(msg);
    const auto taken = taken_;
    lock.unlock();
    if (per_second_ > 0)
      std::this_thread::sleep_until(begin +
                                    std::chrono::nanoseconds{1'000'000'000 * taken / per_second_});
  }
}

/// Called with the mutex held.
void consuming::write_down(const pubsub::data_message& msg) {
  constexpr auto every = planted_every;
  ++taken_;
  if (late_ && taken_ % every == every / 2)
    history_.visit(std::exchange(late_, {}));
  if (fault_ == planted::nothing || taken_ % every != 0) {
    history_.visit(msg);
  } else if (fault_ == planted::duplicate) {
    history_.visit(msg);
    history_.visit(msg);
  } else if (fault_ == planted::reorder) {
    late_ = msg;
  } else if (fault_ == planted::damage) {
    history_.visit(pubsub::make_data_message(get_topic(msg), pubsub::data{"damaged"}));
  }
}

void consuming::close() {
  in_.close();
  if (thread_.joinable())
    thread_.join();
}

json_object consuming::report() const {
  std::lock_guard lock{mutex_};
  const auto counted = in_.counters();
  json_object all;
  all.add("visited", taken_)
      .add("corrupt", history_.corrupt())
      .add("offered", counted.offered)
      .add("delivered", counted.delivered)
      .add("queued", counted.queued)
      .add("dropped", counted.dropped())
      .add("decode_errors", counted.decode_errors)
      .add_raw("streams", history_.streams_json());
  return all;
}

} // namespace faults
