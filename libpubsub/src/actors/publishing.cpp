// SPDX-License-Identifier: BSD-3-Clause
#include <memory>
#include <utility>
#include <vector>

#include <caf/event_based_actor.hpp>

#include <pubsub/caf/actors.hpp>

namespace pubsub::caf {

namespace {

bool took(publish_result x) {
  return x == publish_result::taken || x == publish_result::unwanted;
}

::caf::behavior publishing(::caf::event_based_actor*, const std::shared_ptr<publisher>& to) {
  const auto one = [to](const auto& what) -> std::uint64_t { return took(to->publish(what)); };
  const auto all = [to](const auto& many) {
    std::uint64_t result = 0;
    for (const auto& each : many)
      result += took(to->publish(each));
    return result;
  };
  return {
      [one](const data& x) { return one(x); },
      [one](const data_message& x) { return one(x); },
      [all](const std::vector<data>& x) { return all(x); },
      [all](const std::vector<data_message>& x) { return all(x); },
  };
}

} // namespace

::caf::actor spawn_publisher(::caf::actor_system& system, publisher to) {
  return system.spawn<::caf::detached>(publishing, std::make_shared<publisher>(std::move(to)));
}

} // namespace pubsub::caf
