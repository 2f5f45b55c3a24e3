// Receiving: from the frames of one peer to queues and the outboxes of other links.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include <pubsub/endpoint_id.hpp>

#include "endpoint/dispatcher.hpp"
#include "endpoint/tally.hpp"
#include "link/link.hpp"
#include "message/slab.hpp"
#include "wire/batch.hpp"
#include "wire/envelope.hpp"

namespace pubsub {

/// Routes the messages of one link. Payloads are neither decoded nor copied: subscribers and other
/// links get runs of the very bytes that came in. Consecutive messages with the same route are
/// handed on as one run: the frames of version 1 with sender and hop limit patched in place, the
/// records of version 2 untouched, with their origin beside them.
/// Thread-safety: the link's loop only.
class inbound {
public:
  struct environment {
    endpoint_id self;
    std::shared_ptr<link> via;
    bool forwarding = true;
    /// Called for everything that is not a data message.
    std::function<void(const wire::envelope_view&)> on_control;
    /// Called when the peer breaks the rules of version 2; nothing more of it is read.
    std::function<void(error)> on_violation;
  };

  inbound(environment env, const router& routes, std::shared_ptr<tally> counts);

  /// Whole frames, one after the other.
  void receive(const intrusive_ptr<chunk>& owner, std::span<std::byte> frames);

private:
  /// Topics the peer has told, and where they go.
  struct told_table {
    intrusive_ptr<topic_table> topics;
    std::vector<const route*> routes; // by number, as far as looked up
  };
  /// Messages next to each other that go the same way.
  struct pending_run {
    const route* to = nullptr; // null: none
    bool pass_on = false;      // to other links as well
    std::byte* begin = nullptr;
    run_position size;
    const topic_table* topics = nullptr; // of records
    run_origin origin;                   // of records
  };

  void refresh();
  void take_frame(std::byte* frame, std::size_t size);
  void take_data(std::byte* frame, std::size_t size, const wire::envelope_view& envelope);
  void take_addressed(std::byte* frame, std::size_t size, const wire::envelope_view& envelope);
  bool take_flagged(std::span<std::byte> payload);
  bool take_topics(std::span<const std::byte> payload);
  bool take_batch(std::span<std::byte> payload);
  struct batch_part {
    std::byte* begin;
    run_position size;
  };
  void take_part(const route& to, const told_table& told, const wire::batch_header& header,
                 std::uint32_t first, const batch_part& part);
  void take_records(told_table& told, const wire::batch_header& header,
                    std::span<std::byte> records);
  const route& route_of(told_table& told, std::uint8_t topic);
  void join_run(const route& to, bool pass_on, std::byte* frame, std::size_t size);
  void end_run();
  void hand_on(std::span<bounded_queue* const> to, const intrusive_ptr<message_run>& run);
  bool worth_copying() const noexcept { return run_.size.bytes * 8 < batch_size_; }
  intrusive_ptr<message_run> run_at(const chunk* owner, const std::byte* begin) const;
  intrusive_ptr<message_run> copy_run();

  const environment env_;
  const std::weak_ptr<flow_source> source_; // what a full queue pauses: our link
  dispatcher routes_;
  const std::shared_ptr<tally> counts_;

  const intrusive_ptr<chunk>* owner_ = nullptr; // of the frames at hand
  std::size_t batch_size_ = 0;                  // their size
  pending_run run_;
  slab copies_; // of short runs
  std::vector<told_table> tables_;
  std::size_t told_bytes_ = 0; // of all topics in tables_
};

} // namespace pubsub
