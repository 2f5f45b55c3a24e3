// Actors of CAF, the C++ actor framework, that subscribe and publish. Needs the component
// pubsub::caf. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <caf/actor.hpp>
#include <caf/actor_cast.hpp>
#include <caf/actor_system.hpp>
#include <caf/local_actor.hpp>

#include <pubsub/caf/inspect.hpp>
#include <pubsub/endpoint.hpp>
#include <pubsub/export.hpp>
#include <pubsub/filter.hpp>
#include <pubsub/publisher.hpp>
#include <pubsub/queue_options.hpp>
#include <pubsub/subscriber.hpp>

namespace pubsub::caf {

/// What an actor gets from a subscription: messages in order, at least one. A copy costs a
/// reference. The subscription gives an actor a next batch when no copy of an earlier one is left:
/// so who keeps messages keeps those, and not the batch. Never leaves the process.
class PUBSUB_EXPORT message_batch {
public:
  using container = std::vector<data_message>;
  using value_type = data_message;
  using const_iterator = container::const_iterator;

  message_batch() = default;
  explicit message_batch(std::shared_ptr<const container> content) : content_(std::move(content)) {}

  const_iterator begin() const noexcept { return messages().begin(); }
  const_iterator end() const noexcept { return messages().end(); }
  std::size_t size() const noexcept { return messages().size(); }
  const data_message& operator[](std::size_t n) const noexcept { return messages()[n]; }

private:
  const container& messages() const noexcept;

  std::shared_ptr<const container> content_;
};

/// What subscriptions tell themselves; not for others.
struct feed_signal {
  enum class kind : std::uint8_t { readable, handled } what = kind::readable;
};

/// How an actor gets what it has subscribed to.
struct feed_options {
  /// Messages in one batch, at most; at least 1.
  std::size_t batch_messages = 512;
  /// Batches that wait in the mailbox or are looked at, at most; at least 1. With 2 the next one is
  /// there when one has been handled.
  std::size_t batches = 2;
};

/// Gives an actor the messages of a subscriber, as `message_batch`. Its mailbox holds
/// `batches * batch_messages` of them at most; the others wait in the queue of the subscriber, and
/// the policy of that says what a slow actor means for those who publish. Returns the subscription,
/// an actor that `self` monitors: it ends with `exit_reason::user_shutdown` when the endpoint is
/// closed, so that a handler of `down_msg` is told, and who has linked to it ends as well. The
/// subscription ends when the actor does, or when it is sent an exit. Never blocks. Thread-safety:
/// within `self`.
PUBSUB_EXPORT ::caf::actor subscribe(::caf::local_actor* self, subscriber from,
                                     const feed_options& options = {});
/// The same, of a new subscriber.
PUBSUB_EXPORT ::caf::actor subscribe(::caf::local_actor* self, endpoint& at, filter topics,
                                     const queue_options& queue = {},
                                     const feed_options& options = {});

/// Starts an actor that publishes. It takes `data`, `data_message` (of which it publishes the
/// value, on its own topic) and vectors of both, in the order in which they come, and answers each
/// with a `std::uint64_t`: how many of them were taken by all who want them, or are wanted nowhere.
/// While a queue with policy `block` is full it waits, and answers later: so who requests, and goes
/// on with the answer, is held back as any publisher is; who only sends fills the mailbox. It has a
/// thread of its own, and ends when it is sent an exit, or no reference to it is left.
PUBSUB_EXPORT ::caf::actor spawn_publisher(::caf::actor_system& system, publisher to);

/// Call these at the beginning of a program, `init_types` before the first configuration is made:
/// CAF 0.17 needs the one, to exchange `data` and `data_message` with other processes, and later
/// versions need the other in any case.
PUBSUB_EXPORT void add_message_types(::caf::actor_system_config& config);
PUBSUB_EXPORT void init_types();

} // namespace pubsub::caf

#if PUBSUB_CAF_VERSION >= 1800
CAF_BEGIN_TYPE_ID_BLOCK(libpubsub, ::caf::first_custom_type_id + 3200)
CAF_ADD_TYPE_ID(libpubsub, (pubsub::data))
CAF_ADD_TYPE_ID(libpubsub, (pubsub::data_message))
CAF_ADD_TYPE_ID(libpubsub, (std::vector<pubsub::data>))
CAF_ADD_TYPE_ID(libpubsub, (std::vector<pubsub::data_message>))
CAF_ADD_TYPE_ID(libpubsub, (pubsub::caf::message_batch))
CAF_ADD_TYPE_ID(libpubsub, (pubsub::caf::feed_signal))
CAF_END_TYPE_ID_BLOCK(libpubsub)
#endif
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(pubsub::caf::message_batch)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(pubsub::caf::feed_signal)
