// A link of version 2: an outbox for each number of hops, batches behind a header, and credit for
// each outbox.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <boost/container/flat_map.hpp>

#include "link/link_protocol.hpp"
#include "wire/native/batch.hpp"

namespace pubsub {

/// Records go out as they lie behind a batch header, frames as they lie. The link always reads: a
/// full queue withholds credit, and news of the network never waits behind messages.
class native_protocol final : public link_protocol {
public:
  /// `via` names the link in the destinations of topics.
  explicit native_protocol(const void* via) : via_(via) { credit_.fill(wire::first_credit_bytes); }

  frame_bounds bounds(std::uint32_t max_frame_bytes) const noexcept override;
  bool may_read(const gates&) const noexcept override { return true; }
  std::uint64_t pause_count(const gates&) const noexcept override { return 0; }
  void give_credit(std::span<credit_gate> used, outboxes& to, bool small_too) const override;
  void take(outboxes& from, gathered_write& out) override;
  void grant(std::size_t hops, std::uint32_t bytes) noexcept override;

private:
  struct table_use {
    intrusive_ptr<const topic_table> table;
    std::size_t announced = 0; // topics the peer knows
    std::uint64_t last_use = 0;
  };

  std::size_t encode_records(const run_slice& slice, gathered_write& out) override;
  bool take_messages(outboxes& from, gathered_write& out);
  std::uint16_t number_of(const topic_table* topics);
  std::uint16_t free_number();
  std::size_t announce_topics(table_use& use, std::uint16_t number, gathered_write& out);

  const void* const via_;
  std::array<std::int64_t, wire::max_hops> credit_; // bytes of records the peer can take
  std::array<bool, wire::max_hops> waits_{};        // outboxes that wait for credit
  std::size_t next_ = 0;                            // the outbox whose turn it is
  bool one_place_ = false;                          // as the outboxes said last
  std::vector<table_use> tables_;                   // by the number the peer knows them by
  boost::container::flat_map<const topic_table*, std::uint16_t> numbers_;
  std::uint64_t uses_ = 0;
};

} // namespace pubsub
