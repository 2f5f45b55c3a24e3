// SPDX-License-Identifier: BSD-3-Clause
#include "queue/newest_messages.hpp"

#include <algorithm>

#include "base/probe.hpp"

namespace pubsub {

run_position newest_messages::put(message_run& run, run_position at) {
  auto alone = run.alone(at);
  const run_slice fresh{alone, {}, alone->now().end};
  const auto topic = alone->topic_at({});
  auto known = by_topic_.extract(topic);
  if (known.empty()) {
    by_topic_.emplace(topic, waiting_.insert(waiting_.end(), fresh));
    return {};
  }
  const auto where = known.mapped();
  const auto replaced = where->size;
  waiting_.splice(waiting_.end(), waiting_, where);
  known.key() = topic; // before the run that holds the old one goes
  *where = fresh;
  by_topic_.insert(std::move(known));
  return replaced;
}

run_position newest_messages::take(std::vector<run_slice>& out, const take_limits& most) {
  run_position total;
  while (!waiting_.empty() && out.size() < most.slices && total.bytes < most.bytes) {
    const auto size = waiting_.front().size;
    if (size.messages > 0 && total.messages == most.messages)
      break;
    out.push_back(take(waiting_.begin()));
    total.messages += size.messages;
    total.bytes += size.messages > 0 ? size.bytes : 0;
  }
  return total;
}

run_position newest_messages::drop_oldest() {
  const auto dropped =
      take(std::ranges::find_if(waiting_, [](const auto& x) { return x.size.messages > 0; }));
  PUBSUB_PROBE_IF_TRACED(drop, dropped.run->topic_at({}), 1, "oldest");
  return dropped.size;
}

run_slice newest_messages::take(place at) {
  if (at->size.messages > 0)
    by_topic_.erase(at->run->topic_at({}));
  auto result = std::move(*at);
  waiting_.erase(at);
  return result;
}

void newest_messages::clear() noexcept {
  by_topic_.clear();
  waiting_.clear();
}

} // namespace pubsub
