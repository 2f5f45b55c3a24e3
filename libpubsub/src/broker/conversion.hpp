// Values of Broker to encoded values of this library and back, without text and without a tree
// between. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>

#include <broker/data.hh>
#include <pubsub/data_view.hpp>
#include <pubsub/data_writer.hpp>

namespace pubsub::broker {

/// Appends `value` to `out`. False, and `out` is as before, if this library cannot hold it: nested
/// more deeply than `decode_limits` allows, a port of a protocol it does not know, members of a
/// set or keys of a table that are the same once they are encoded (reals that are too small, NaN).
bool encode(const ::broker::data& value, data_writer& out);

/// Nothing if Broker cannot hold `value`: nested more deeply than `decode_limits` allows, or a
/// subnet whose address has bits behind the prefix, or whose prefix is too long.
std::optional<::broker::data> broker_value(const data_view& value);

} // namespace pubsub::broker
