// What differs between Broker 1.4, as Debian 12 has it, and Broker 2 from 2.8 on; all the rest of
// this room but the two files named after what they use (core_peer.cpp, hub.cpp) is the same for
// both. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include <broker/data.hh>
#include <broker/message.hh>
#include <broker/topic.hh>
#include <broker/version.hh>

namespace pubsub::broker {

#ifdef PUBSUB_BROKER_2

template <class Visitor>
decltype(auto) visit(Visitor&& visitor, const ::broker::data& value) {
  return std::visit(std::forward<Visitor>(visitor), value.get_data());
}

#else

template <class Visitor>
decltype(auto) visit(Visitor&& visitor, const ::broker::data& value) {
  return ::caf::visit(std::forward<Visitor>(visitor), value.get_data());
}

#endif

} // namespace pubsub::broker
