// The hops of a trace for people. Pure.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <string>

#include <pubsub/trace.hpp>

#include "exit_code.hpp"

namespace pubsub::tool {

/// A line for each node, below the one it gets the message from, with what stands in the way.
std::string tree_of(std::span<const trace_hop> hops);

/// What the trace means for the exit status: a node that has not answered is a timeout, and a
/// message that no subscriber gets is lost.
exit_code outcome_of(std::span<const trace_hop> hops);

} // namespace pubsub::tool
