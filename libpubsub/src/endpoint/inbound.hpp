// Receiving: from the frames of one peer to queues and the outboxes of other links.
#pragma once

#include <functional>
#include <memory>
#include <span>

#include <pubsub/endpoint_id.hpp>

#include "endpoint/dispatcher.hpp"
#include "endpoint/tally.hpp"
#include "link/link.hpp"
#include "message/slab.hpp"
#include "wire/envelope.hpp"

namespace pubsub {

/// Routes the messages of one link. Payloads are neither decoded nor copied: subscribers get slices
/// of the read buffer, other links get runs of the very frames that came in, with sender and hop
/// limit patched in place. Consecutive messages with the same route are handed on as one run.
/// Thread-safety: the link's loop only.
class inbound {
public:
  struct environment {
    endpoint_id self;
    std::shared_ptr<link> via;
    bool forwarding = true;
    /// Called for everything that is not a data message.
    std::function<void(const wire::envelope_view&)> on_control;
  };

  inbound(environment env, const router& routes, std::shared_ptr<tally> counts);

  /// Whole frames, one after the other.
  void receive(const intrusive_ptr<chunk>& owner, std::span<std::byte> frames);

private:
  void take_frame(std::byte* frame, std::size_t size);
  void take_data(std::byte* frame, std::size_t size, const wire::envelope_view& envelope);
  void take_addressed(std::byte* frame, std::size_t size, const wire::envelope_view& envelope);
  void join_run(const route& to, bool pass_on, std::byte* frame, std::size_t size);
  void end_run();
  void hand_on(std::span<bounded_queue* const> to, const intrusive_ptr<message_run>& run);
  bool worth_copying() const noexcept { return run_size_.bytes * 4 < frames_size_; }
  intrusive_ptr<message_run> copy_run();

  const environment env_;
  const std::weak_ptr<flow_source> source_; // what a full queue pauses: our link
  dispatcher routes_;
  const std::shared_ptr<tally> counts_;

  const intrusive_ptr<chunk>* owner_ = nullptr; // of the frames at hand
  std::size_t frames_size_ = 0;                 // their size
  const route* run_route_ = nullptr;            // of the run being gathered
  bool run_passes_on_ = false;                  // whether it goes to other links
  std::byte* run_begin_ = nullptr;
  run_position run_size_;
  slab copies_; // of short runs
};

} // namespace pubsub
