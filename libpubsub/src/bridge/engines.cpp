// SPDX-License-Identifier: BSD-3-Clause
#include "bridge/engines.hpp"

#include <variant>

#include "bridge/jetstream/jetstream.hpp"
#include "bridge/kafka/kafka.hpp"
#include "bridge/redis/redis.hpp"

namespace pubsub::bridge {

expected<std::unique_ptr<engine_writer>> make_writer(const engine& to) {
  return std::visit([](const auto& which) { return make_writer(which); }, to);
}

expected<std::unique_ptr<engine_reader>> make_reader(const engine& from,
                                                     const source_options& options) {
  return std::visit([&](const auto& which) { return make_reader(which, options); }, from);
}

expected<void> check_writer(const engine& to) {
  if (auto made = make_writer(to); !made)
    return made.error();
  return {};
}

bool writes_in_order(const engine& to) {
  const auto* const one = std::get_if<kafka>(&to);
  return one != nullptr && !one->transactional_id.empty();
}

} // namespace pubsub::bridge
