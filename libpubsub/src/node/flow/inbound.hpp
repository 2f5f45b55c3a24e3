// Receiving: from the frames of one peer to queues and the outboxes of other links.
#pragma once

#include <array>
#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include <pubsub/endpoint_id.hpp>

#include "link/link.hpp"
#include "message/slab.hpp"
#include "node/flow/live_counters.hpp"
#include "node/flow/record_stream.hpp"
#include "node/routing/dispatcher.hpp"
#include "route/stream_marks.hpp"
#include "wire/broker/envelope.hpp"
#include "wire/native/batch.hpp"

namespace pubsub {

/// Routes the messages of one link. Payloads are neither decoded nor copied: subscribers and other
/// links get runs of the very bytes that came in. Consecutive messages with the same route are
/// handed on as one run: the frames of version 1 with sender and hop limit patched in place, the
/// records of version 2 untouched, with their origin beside them. What a Broker peer sends
/// enters the network as records of a stream of ours. Thread-safety: the link's loop only.
class inbound {
public:
  struct environment {
    endpoint_id self;
    endpoint_id remote;
    std::shared_ptr<link> via;
    bool forwarding = true;
    /// Called for all frames of version 1 that are not data messages.
    std::function<void(const wire::envelope_view&)> on_control;
    /// Called with the payload of a status frame of version 2; false if it is malformed.
    std::function<bool(std::span<const std::byte>)> on_status_frame;
    /// Called for frames of version 2 that tell about the network. False if they break the rules.
    std::function<bool(wire::frame_kind, std::span<const std::byte> payload)> on_news;
    /// Called when the peer breaks the rules of version 2; nothing more of it is read.
    std::function<void(error)> on_violation;
    /// `go_on` shall be called on the loop, now or after that time. Thread-safe.
    std::function<void(std::chrono::milliseconds)> call_back;
  };

  inbound(environment env, router& routes, std::shared_ptr<live_counters> counts);

  /// Whole frames, one after the other.
  void receive(const intrusive_ptr<chunk>& owner, std::span<std::byte> frames);
  /// Looks whether messages that wait for their way may go on.
  void go_on();
  /// The link is closed: messages that wait go on at once.
  void end();

private:
  struct announced_topic {
    std::string text;
    std::vector<destination> destinations;

    std::size_t bytes() const noexcept {
      return sizeof(announced_topic) + text.size() + destinations.size() * sizeof(destination);
    }
  };
  /// Topics the peer has told, and where they go.
  struct announced_topics {
    std::vector<announced_topic> topics;
    intrusive_ptr<topic_table>
        passed_on; // the same, with the destinations_by_link that are left behind us
    std::vector<const route*> routes;  // by number, as far as in passed_on
    std::uint64_t generation = 0;      // of the routes
    std::size_t hops = 0;              // of the messages, when they leave us
    bool for_us = false;               // some topic is
    std::shared_ptr<stream_mark> mark; // of the stream that came last
    run_origin origin;                 // of that

    void forget_routes() {
      routes.clear();
      passed_on = {};
    }
  };
  /// Messages next to each other that go the same way.
  struct pending_run {
    const route* to = nullptr; // null: none
    bool deliver = true;       // to queues and Broker peers
    bool pass_on = false;      // to links
    std::byte* begin = nullptr;
    run_position size;
    const topic_table* topics = nullptr; // of records
    run_origin origin;                   // of records
  };

  enum class held_kind : std::uint8_t { message, batch, flush };
  /// A message, a batch with its topics, or a flush that waits. A link of version 2 carries
  /// messages for one node as frames of version 1: the frame, not the link, says what it is.
  struct held_frame {
    held_kind kind;
    intrusive_ptr<chunk> owner;
    std::span<std::byte> bytes;
    std::shared_ptr<announced_topics> topics;
  };
  /// What has come so many hops and waits until that which has gone before, on ways that are left,
  /// has arrived.
  struct hold {
    std::vector<std::shared_ptr<route_flush>> flushes;
    std::deque<held_frame> frames;
    std::size_t flush_bytes = 0; // of the flushes among them
    bool active() const noexcept { return !flushes.empty(); }
  };

  void refresh();
  void leave(retired_route path);
  void wait_in(std::size_t place, held_kind kind, std::span<std::byte> bytes,
               std::shared_ptr<announced_topics> topics = {});
  void release(std::size_t place);
  void call_back_if_held();
  void route_held(held_frame& frame);
  void take_frame(std::byte* frame, std::size_t size);
  void take_data(std::byte* frame, std::size_t size, const wire::envelope_view& envelope);
  bool is_copy(const wire::envelope_view& envelope) const;
  void route_data(std::byte* frame, std::size_t size, const wire::envelope_view& envelope);
  void take_addressed(std::byte* frame, std::size_t size, const wire::envelope_view& envelope);
  bool take_flagged(std::span<std::byte> payload);
  bool take_topics(std::span<const std::byte> payload);
  bool take_credit(std::span<const std::byte> payload);
  bool take_batch(std::span<std::byte> payload);
  void route_batch(announced_topics& announced, const wire::batch_header& header,
                   std::span<std::byte> records, bool one_topic);
  bool take_flush(std::span<std::byte> payload);
  void pass_flush(const flush_request& request);
  struct batch_part {
    std::byte* begin;
    run_position size;
    std::uint32_t first; // of the batch
    bool late = false;   // has been delivered here, or later ones have
  };
  void take_part(const route& to, const announced_topics& announced,
                 const wire::batch_header& header, const batch_part& part);
  void take_records(announced_topics& announced, const wire::batch_header& header,
                    std::span<std::byte> records, std::uint32_t late);
  const route& route_of(announced_topics& announced, std::uint8_t topic);
  stream_mark& mark_of(announced_topics& announced, const run_origin& origin);
  void join_run(const route& to, bool pass_on, std::byte* frame, std::size_t size);
  void end_run();
  using exit_span = std::span<bounded_queue* const>;
  void pass_on(const route& to, const intrusive_ptr<message_run>& run);
  void hand_on(exit_span to, const intrusive_ptr<message_run>& run);
  bool worth_copying() const noexcept { return run_.size.bytes * 8 < batch_size_; }
  intrusive_ptr<message_run> run_at(const chunk* owner, const std::byte* begin) const;
  intrusive_ptr<message_run> copy_run();
  void enter_network(const route& to, const std::byte* frames, run_position size);
  void hand_to_network(const route& to, const intrusive_ptr<message_run>& run);

  const environment env_;
  std::array<std::weak_ptr<flow_source>, wire::max_hops> sources_; // what a full queue pauses
  std::size_t hops_ = 0; // that the messages at hand have come
  router& router_;
  dispatcher routes_;
  const std::shared_ptr<live_counters> counts_;

  const intrusive_ptr<chunk>* owner_ = nullptr; // of the frames at hand
  std::size_t batch_size_ = 0;                  // their size
  pending_run run_;
  slab copies_;                                           // of short runs
  std::vector<std::shared_ptr<announced_topics>> tables_; // by number; null: nothing told
  std::array<hold, wire::max_hops> holds_;                // by the hops messages have come
  bool ended_ = false;                                    // nothing waits any more
  std::uint16_t entered_ = 0;       // bits: the hops that messages of a Broker peer had come
  std::size_t announced_bytes_ = 0; // of all topics in tables_
  record_stream entering_;          // what a Broker peer sends
};

} // namespace pubsub
