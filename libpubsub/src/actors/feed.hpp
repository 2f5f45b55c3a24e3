// The subscription of an actor.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include <caf/actor.hpp>
#include <caf/event_based_actor.hpp>

#include <pubsub/caf/actors.hpp>
#include <pubsub/subscriber.hpp>

#include "actors/readiness.hpp"

namespace pubsub::caf {

/// Takes messages from the queue of a subscriber as long as fewer batches than allowed are under
/// way to the actor, and waits for the queue to have some, or for a batch to be let go of. Ends
/// with the actor, and when the subscriber is closed and empty.
class feed final : public ::caf::event_based_actor {
public:
  feed(::caf::actor_config& config, pubsub::subscriber from, ::caf::actor to,
       const feed_options& options);
  ~feed() override;

  ::caf::behavior make_behavior() override;
  void on_exit() override;
  const char* name() const override { return "pubsub.subscription"; }

private:
  void watch_reader();
  void hand_on();

  std::optional<pubsub::subscriber> from_; // the framework has a class of that name, too
  ::caf::actor to_;
  const feed_options options_;
  std::size_t under_way_ = 0; // batches
  std::shared_ptr<readiness> readiness_;
  std::uint64_t number_ = 0; // of readiness_
};

} // namespace pubsub::caf
