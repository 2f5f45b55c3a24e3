// Sending a message to an actor, by the names of each version of CAF.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <utility>

#include <caf/actor.hpp>
#include <caf/event_based_actor.hpp>

#include <pubsub/caf/inspect.hpp>

#if PUBSUB_CAF_VERSION < 10000
#include <caf/send.hpp>
#else
#include <caf/anon_mail.hpp>
#endif

namespace pubsub::caf {

/// Without a sender.
template <class Message>
void tell(const ::caf::actor& whom, Message message) {
#if PUBSUB_CAF_VERSION < 10000
  ::caf::anon_send(whom, std::move(message));
#else
  ::caf::anon_mail(std::move(message)).send(whom);
#endif
}

template <class Message>
void tell(::caf::event_based_actor& from, const ::caf::actor& whom, Message message) {
#if PUBSUB_CAF_VERSION < 10000
  from.send(whom, std::move(message));
#else
  from.mail(std::move(message)).send(whom);
#endif
}

} // namespace pubsub::caf
