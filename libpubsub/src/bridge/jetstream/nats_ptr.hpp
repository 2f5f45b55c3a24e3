// Owners of what cnats allocates.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include <nats/nats.h>

namespace pubsub::bridge {

struct free_nats {
  void operator()(natsConnection* x) const { ::natsConnection_Destroy(x); }
  void operator()(natsOptions* x) const { ::natsOptions_Destroy(x); }
  void operator()(natsSubscription* x) const { ::natsSubscription_Destroy(x); }
  void operator()(natsMsg* x) const { ::natsMsg_Destroy(x); }
};
template <class T>
using nats_ptr = std::unique_ptr<T, free_nats>;

} // namespace pubsub::bridge
