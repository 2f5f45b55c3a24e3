// What waits to be written to one link, by how far it has come.
#pragma once

#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include <pubsub/counters.hpp>

#include "queue/outbox.hpp"
#include "wire/native/batch.hpp"

namespace pubsub {

/// A slice and the outbox it comes from.
struct outgoing_slice {
  run_slice slice;
  std::size_t hops = 0;
};

/// One outbox for what this node publishes, and one for each number of hops that messages have come
/// so far. In version 2 each is written only as far as the peer gives credit for it, and the peer
/// reads on whatever happens: news of the network never waits behind messages. Nor can full queues
/// wait for one another in a circle, since a message that has come n hops waits for room only among
/// those that have come n + 1. In version 1 there is one outbox, and no credit.
/// Thread-safety: `of`, `push_control`, `push_last`, `close` and what only looks, from any thread;
/// the rest under the link's writer mutex.
class outboxes {
public:
  outboxes(const queue_options& options, outbox::callbacks calls);

  /// For messages that have come so many hops; made when first asked for.
  outbox& of(std::size_t hops = 0);
  /// Bits: the numbers of hops that messages had come so far.
  std::uint16_t hops_in_use() const noexcept;
  /// Version 2: before all messages. Version 1: behind those that wait.
  void push_control(std::span<const std::byte> frame);
  /// Version 2: behind the messages that have come so many hops, and before those that follow.
  void push_behind(std::size_t hops, std::span<const std::byte> frame) {
    of(hops).push_control(frame);
  }
  /// Behind all messages that wait.
  void push_last(std::span<const std::byte> frame);
  std::size_t control_bytes() const;

  /// From here on as version 2 has it.
  void use_credit();
  /// The peer can take so many more bytes of records.
  void grant(std::size_t hops, std::uint32_t bytes) noexcept;
  /// Does not call back: it is the writer that takes.
  void take(std::vector<outgoing_slice>& out, std::size_t max_slices, std::size_t max_bytes);
  void written(std::size_t hops, run_position size) { of(hops).written(size); }

  void close();
  std::size_t wait_until_empty(std::chrono::steady_clock::time_point until) const;
  link_counters counters() const;

private:
  static constexpr std::int64_t most_credit = std::int64_t{1} << 40;

  void take_handshake(std::vector<outgoing_slice>& out, std::size_t max_slices,
                      std::size_t max_bytes);
  std::size_t take_from(outbox& from, std::size_t hops, std::vector<outgoing_slice>& out,
                        std::size_t max_slices, std::size_t max_bytes);
  std::size_t take_messages(std::vector<outgoing_slice>& out, std::size_t max_slices,
                            std::size_t max_bytes, bool& more);
  template <class Visitor>
  void visit(Visitor&& each) const;

  const queue_options options_;
  const outbox::callbacks calls_;
  outbox control_; // of version 2
  outbox last_;    // of version 2
  std::atomic<bool> with_credit_{false};

  mutable std::mutex mutex_; // guards what follows, except for reading by_hops_
  std::array<std::unique_ptr<outbox>, wire::max_hops> owned_;
  bool closed_ = false;
  std::array<std::atomic<outbox*>, wire::max_hops> by_hops_{};

  // The writer's.
  std::array<std::int64_t, wire::max_hops> credit_;
  std::size_t next_ = 0; // whose turn it is
  bool handshake_taken_ = false;
  std::vector<run_slice> slices_;
};

} // namespace pubsub
