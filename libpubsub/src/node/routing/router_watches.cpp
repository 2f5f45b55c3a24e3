// What those are told who watch which nodes there are.
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <utility>

#include "node/routing/router.hpp"

namespace pubsub {

void router::add_watch(std::shared_ptr<network_watch> watch) {
  std::lock_guard turn{turn_};
  std::lock_guard lock{mutex_};
  if (closed_)
    return watch->finish();
  if (watches_.empty())
    network_.note_reach(true);
  client_links_.serving().visit([&](const auto& id, const auto&, auto) { watch->touch(id); });
  for (const auto& [node, hop] : network_.next_hops())
    watch->touch(node);
  clients().visit_ids([&](const auto& id) { watch->touch(id); });
  watches_.push_back(std::move(watch));
}

void router::remove_watch(const std::shared_ptr<network_watch>& watch) {
  std::lock_guard turn{turn_};
  std::lock_guard lock{mutex_};
  if (std::erase(watches_, watch) > 0 && watches_.empty())
    network_.note_reach(false);
}

void router::look_at(const endpoint_id& node,
                     const std::function<void(const node_view*)>& visit) const {
  std::lock_guard lock{mutex_};
  if (clients().contains(node)) {
    const auto* const said = clients().find_started(node);
    const auto view = said == nullptr
                          ? node_view{}
                          : node_view{said->name, said->incarnation, true, false, &said->prefixes};
    return visit(said == nullptr ? nullptr : &view);
  }
  bool is_relay = false;
  client_links_.serving().visit([&](const auto& id, const auto& name, auto number) {
    const node_view view{name, number, false, true, nullptr};
    if (id == node)
      visit(&view);
    is_relay = is_relay || id == node;
  });
  if (is_relay)
    return;
  const auto* const known = network_.find(node);
  if (known == nullptr || !network_.next_hops().contains(node))
    return visit(nullptr);
  const node_view view{known->name, known->incarnation, false, known->relays, &known->prefixes};
  visit(&view);
}

} // namespace pubsub
