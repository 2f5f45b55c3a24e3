// Records of a writer that are settled, and are to be told.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "bridge/engine/engine_writer.hpp"

namespace pubsub::bridge {

/// Settled, and not yet told.
struct settled_record {
  std::uint64_t number;
  outcome what;
  std::size_t bytes;
  std::string why;
};

/// Tells all; the list is empty then. `settle` may write again.
inline void tell(std::vector<settled_record>& list, const settle_record& settle) {
  const auto all = std::exchange(list, {});
  for (const auto& each : all)
    settle(each.number, each.what, each.bytes, each.why);
}

/// How much of an engine's memory a record needs, about.
inline std::size_t size_of(const engine_record& x) {
  return x.to.size() + x.key.size() + x.payload.size() + x.from.topic.size() +
         x.from.origin.size() + x.from.network.size() + x.from.reason.size();
}

} // namespace pubsub::bridge
