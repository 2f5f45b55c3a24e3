// One relay of a network that is too large to simulate all of it.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <string_view>

#include "scale/scenario.hpp"

namespace pubsub::scale {

/// One whole relay; of the others only what its neighbours tell it, as those of a flat network do:
/// each tells of every change once. Costs are those of the one relay: frames and bytes that it
/// receives, its processor time, and the hop times that the change needs to the relays. What cannot
/// be seen from one relay is 0.
outcome run_one_relay(const scenario& what, const std::function<void(std::string_view)>& say);

} // namespace pubsub::scale
