// SPDX-License-Identifier: BSD-3-Clause
#include "broker/pairs.hpp"

#include <algorithm>
#include <mutex>
#include <utility>
#include <vector>

namespace pubsub::broker {

namespace {

/// One list for the process: bridges know nothing of each other, and the endpoints nothing of them.
struct joined_pairs {
  std::mutex mutex; // guards the following
  std::vector<std::pair<endpoint_pair, std::weak_ptr<broker_side>>> all;
};

joined_pairs& pairs() {
  static joined_pairs result;
  return result;
}

} // namespace

expected<std::shared_ptr<broker_side>>
join_pair(const endpoint_pair& pair,
          const std::function<expected<std::shared_ptr<broker_side>>()>& start) {
  auto& [mutex, all] = pairs();
  std::lock_guard lock{mutex};
  std::erase_if(all, [](const auto& each) {
    const auto side = each.second.lock();
    return !side || side->gone();
  });
  if (std::ranges::any_of(all, [&](const auto& each) { return each.first == pair; }))
    return error{errc::invalid_argument,
                 "these two endpoints have a bridge: what one brings, the other would take back"};
  auto started = start();
  if (started)
    all.emplace_back(pair, *started);
  return started;
}

} // namespace pubsub::broker
