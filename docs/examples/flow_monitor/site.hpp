// Which addresses belong to the monitored site: the local_orig and local_resp columns.
#pragma once

#include <pubsub/value/address.hpp>

namespace flow_monitor {

/// True for private, shared, link-local and loopback addresses, what Zeek takes as local unless
/// told otherwise.
[[nodiscard]] bool is_local(const pubsub::address& address);

} // namespace flow_monitor
