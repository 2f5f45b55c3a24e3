// What is there to be read, at once.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include <pubsub/status_subscriber.hpp>
#include <pubsub/subscriber.hpp>

namespace pubsub::test {

inline std::vector<data_message> everything(subscriber& from) {
  auto result = from.try_get_batch();
  return result ? std::move(*result) : std::vector<data_message>{};
}

inline std::vector<status> everything(status_subscriber& from) {
  std::vector<status> result;
  while (auto event = from.try_get())
    result.push_back(std::move(*event));
  return result;
}

} // namespace pubsub::test
