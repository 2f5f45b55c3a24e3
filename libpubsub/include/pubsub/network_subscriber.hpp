// Tells which nodes of the network come and go, and which topics they want.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include <pubsub/export.hpp>
#include <pubsub/received.hpp>
#include <pubsub/value/endpoint_id.hpp>

namespace pubsub {

class network_reader;

enum class network_change : std::uint8_t {
  node_added,    ///< messages can reach it
  node_lost,     ///< they cannot any more, and its topics are gone
  topic_added,   ///< what is published here on such topics from now on reaches the node
  topic_removed, ///< the node does not want it any more
};

/// The name of the enumerator, e.g. `node_added`.
PUBSUB_EXPORT std::string_view to_string(network_change x) noexcept;

/// A node has come or gone, or what it has subscribed to has changed.
struct network_event {
  network_change change{};
  endpoint_id node;
  std::string name{}; ///< what the node calls itself (`endpoint_options::name`); empty: not known
  /// It is a client of this endpoint: no other nodes know of it.
  bool client = false;
  bool relays = true;  ///< passes messages on, as it has said when it was added
  std::string topic{}; ///< of topic_added and topic_removed: the prefix, perhaps empty
};

/// Begins with what is known now: each node within reach, at any distance, and behind it the topics
/// that it wants. Then come the changes, those of one node in their order. Nodes are those of
/// `endpoint::nodes` and the clients of this endpoint; peers that speak version 1 are none. A
/// client sees the relays that it is linked with, and no topics: it is not told.
///
/// Nothing is dropped, and nothing queues up: what has changed is found out when it is read. A
/// change that was taken back by then is not seen, but a node that has started again meanwhile is
/// lost and added. Thread-safety: one consuming thread at a time; close from any thread.
class PUBSUB_EXPORT network_subscriber {
public:
  network_subscriber(network_subscriber&&) noexcept;
  network_subscriber& operator=(network_subscriber&&) noexcept;
  ~network_subscriber();

  /// Takes the next event. Blocks until there is one, or this is closed, or its endpoint is and all
  /// events are read: the last ones are those of its nodes, which are lost.
  received<network_event> get();
  /// As `get`, but blocks for at most `timeout`.
  received<network_event> get_for(std::chrono::nanoseconds timeout);
  /// As `get`, but never blocks.
  received<network_event> try_get();
  /// Readable while an event may be available or this is closed (level-triggered): where a change
  /// was taken back, `try_get` finds none, and then it is not readable any more.
  int fd() const;
  /// Whether an event can be taken without waiting.
  bool available() const;
  /// No more changes are noted, and those that were not looked at are forgotten. Idempotent.
  void close();

private:
  friend class endpoint;
  explicit network_subscriber(std::unique_ptr<network_reader> reader);

  std::unique_ptr<network_reader> reader_;
};

} // namespace pubsub
