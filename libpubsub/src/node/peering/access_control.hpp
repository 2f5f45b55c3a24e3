// Which access rule holds for a peer.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "access/access.hpp"
#include "node/flow/live_counters.hpp"
#include "node/peering/peer_request.hpp"
#include "node/peering/peer_table.hpp"
#include "node/peering/session.hpp"

namespace pubsub {

/// Gives the links of peers their rules. For peers that this endpoint has connected to itself there
/// is that of the request, or none. Guarded by the peering's mutex.
class access_control {
public:
  access_control(std::optional<access_rules> rules, std::shared_ptr<live_counters> counts)
      : rules_(std::move(rules)), counts_(std::move(counts)) {}

  /// What becomes of a handshake, as far as that is up to the rules.
  wire::admission admit(const session& who, const endpoint_id& remote, const peer_table& peers) {
    if (const auto& request = who.request()) {
      if (const auto& rule = request->options.access)
        who.carrier()->set_access(std::make_shared<const access_rule>(*rule));
      return wire::admission::proceed;
    }
    if (!rules_)
      return wire::admission::proceed;
    auto rule = find_access(*rules_, who.carrier()->identity());
    if (!rule) {
      counts_->denied.add(1);
      return wire::admission::unknown;
    }
    if (const auto most = rule->limits.connections;
        most > 0 && peers.size() >= most && peers.count_with(*rule, remote) >= most) {
      counts_->limited.add(1);
      return wire::admission::limited;
    }
    who.carrier()->set_access(std::move(rule));
    return wire::admission::proceed;
  }

  /// Peers keep their links, except those that are returned: they may not be here any more, or may
  /// now relay or do so no more, on which it depends what they have reported of others.
  std::vector<std::shared_ptr<session>> change(std::optional<access_rules> rules,
                                               const peer_table& peers, const router& routes) {
    using phase = peer_table::phase;
    rules_ = std::move(rules);
    std::vector<std::shared_ptr<session>> outcasts;
    for (const auto& each : peers.in_phase(phase::connecting, phase::leaving)) {
      if (each->request())
        continue;
      auto rule = rules_ ? find_access(*rules_, each->carrier()->identity()) : nullptr;
      const auto before = each->carrier()->access();
      const bool relayed = !before || before->relay;
      const bool may_relay = !rules_ || (rule && rule->relay);
      const bool same_role = relayed == may_relay || (relayed && !routes.relays(each->remote()));
      if ((!rules_ || rule) && same_role)
        each->carrier()->set_access(std::move(rule));
      else
        outcasts.push_back(each);
    }
    return outcasts;
  }

private:
  std::optional<access_rules> rules_;
  const std::shared_ptr<live_counters> counts_;
};

} // namespace pubsub
