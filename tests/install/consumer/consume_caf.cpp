// Uses the component caf.
// SPDX-License-Identifier: BSD-3-Clause
#include <pubsub/caf/actors.hpp>

#include <caf/all.hpp>

int main() {
  pubsub::caf::init_types();
#if PUBSUB_CAF_VERSION >= 1800
  caf::core::init_global_meta_objects();
#endif
  caf::actor_system_config config;
  pubsub::caf::add_message_types(config);
  caf::actor_system system{config};
  pubsub::endpoint endpoint;
  caf::scoped_actor self{system};
  const auto subscription = pubsub::caf::subscribe(self.ptr(), endpoint, {"/t"});
  (void)endpoint.publish("/t", pubsub::count{1});
  std::size_t got = 0;
  self->receive([&](const pubsub::caf::message_batch& batch) { got = batch.size(); });
  self->send_exit(subscription, caf::exit_reason::user_shutdown);
  return got == 1 ? 0 : 1;
}
