// Receiving: from what one peer sends to queues and the outboxes of other links.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string_view>

#include <pubsub/value/endpoint_id.hpp>

#include "node/flow/holding.hpp"
#include "node/flow/peer_rights.hpp"
#include "node/flow/run_forwarder.hpp"
#include "node/flow/screening.hpp"
#include "node/routing/dispatcher.hpp"
#include "wire/broker/envelope.hpp"
#include "wire/native/batch.hpp"

namespace pubsub {

/// Routes the messages of one link. Payloads are neither decoded nor copied: subscribers and other
/// links get runs of the very bytes that came in, frames of version 1 with sender and hop limit
/// patched in place. There is a reader for each version; both read control frames of version 1.
/// Thread-safety: the link's loop only.
class message_reader {
public:
  struct environment {
    endpoint_id self;
    endpoint_id remote;
    std::shared_ptr<peer_link> via;
    bool forwarding = true;
    /// Of nodes of version 2: whether we are a client, and whether the peer is one.
    bool is_client = false;
    bool remote_is_client = false;
    std::string remote_name; ///< what the peer calls itself
    filter subscriptions;    ///< of a Broker peer, as announced in the handshake
    filter announced;        ///< to a Broker peer, in the handshake
    /// Called once, when both sides have announced what they know.
    std::function<void()> on_ready;
    std::function<void(std::span<const std::byte> payload)> on_ping, on_pong;
    /// The peer says what it has refused.
    std::function<void(std::string_view)> on_refusal;
    /// Called with the payload of an inquiry or a reply; false if it is malformed.
    std::function<bool(std::span<const std::byte>)> on_inquiry;
    /// `go_on` shall be called on the loop, now or after that time. Thread-safe.
    std::function<void(std::chrono::nanoseconds)> call_back;
  };

  message_reader(environment env, router& routes, std::shared_ptr<live_counters> counts);
  virtual ~message_reader() = default;
  message_reader(const message_reader&) = delete;
  message_reader& operator=(const message_reader&) = delete;

  /// The handshake is over.
  virtual void begin() = 0;
  /// Whether the peer answers inquiries. Thread-safe.
  virtual bool peer_can_be_asked() const noexcept = 0;
  /// Whole frames, one after the other. Returns how many bytes it has taken: none any more once the
  /// link rests.
  virtual std::size_t receive(const intrusive_ptr<chunk>& owner, std::span<std::byte> frames) = 0;
  /// Looks whether messages that wait for their route may go on.
  virtual void go_on();
  /// The link is closed: messages that wait go on at once.
  void end();

protected:
  /// Before routes are looked up, and not with every piece of news: a new picture costs time in
  /// proportion to the network.
  void refresh() {
    if (routes_.outdated())
      take_new_routes();
  }
  /// The peer has told of so many links and subscriptions of this node. If that is more than nodes
  /// can well take in, it is not read for a while.
  void note_report(const endpoint_id& about, std::size_t items);
  /// A frame of version 1.
  void take_frame(std::byte* frame, std::size_t size);
  held_frame make_held(held_frame::kind what, std::span<std::byte> bytes, stream_name stream = {},
                       std::shared_ptr<announced_topics> topics = {}) const;
  /// A message in a frame of version 1.
  virtual void take_message(std::span<std::byte> frame, const wire::envelope_view& envelope) = 0;
  /// Whether a frame that waits has to go on waiting, in this place.
  virtual bool must_wait(std::size_t place, const held_frame& frame) = 0;
  /// A frame need wait no longer. It was well-formed when it came in.
  virtual void route_held(held_frame& frame) = 0;

  const environment env_;
  router& router_;
  dispatcher routes_;
  const std::shared_ptr<live_counters> counts_;
  run_forwarder runs_;
  holding held_;
  peer_rights rights_;
  screening screen_;

private:
  void take_new_routes();
  void take_control(const wire::envelope_view& envelope);

  rate_limit own_reports_, reports_;
};

} // namespace pubsub
