// What a sink has taken and the engine has not confirmed, and what became of the rest.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include <boost/container/deque.hpp>
#include <pubsub/bridge/counters.hpp>

#include "bridge/engine/engine_writer.hpp"
#include "bridge/mapping/record_source.hpp"
#include "bridge/sink_input.hpp"

namespace pubsub::bridge {

/// Each item that was taken has a number, the same for all records that it becomes. It is settled
/// once all of them are; a task is then done or rejected. It keeps the value of an item until then,
/// and lends its bytes to the records. One thread works on it; `counters` and `settled_below` are
/// for any.
class sink_ledger {
public:
  /// The number of an item.
  std::uint64_t add(input_item&& item);
  /// So many records of it are to be written.
  void expect(std::uint64_t number, std::size_t records) { at(number).records = records; }
  /// What became of one of its records. Why the item is to be rejected, if all of them are settled
  /// and the engine has not taken them all.
  rejection settle(std::uint64_t number, outcome what, std::size_t bytes);
  /// The item will not be written, and none of its records is on its way.
  void reject(std::uint64_t number, rejection why);
  /// The same, but its dead letter is about to be written under its number.
  void expect_dead_letter(std::uint64_t number, rejection why);
  /// Acknowledges what was settled since the last call, and shows it in `counters`.
  void publish();

  const input_item& item(std::uint64_t number) const { return *at(number).item; }
  bool empty() const noexcept { return entries_.empty(); }
  std::uint64_t next_number() const noexcept { return first_ + entries_.size(); }

  bridge_counters counters() const;
  /// All with lower numbers are settled, as `publish` has shown it.
  std::uint64_t settled_below() const;

private:
  struct entry {
    explicit entry(input_item&& x) : item(std::move(x)) {}
    std::optional<input_item> item; // none once it is settled
    std::size_t records = 0;        // that are not settled
    rejection why = nullptr;
    bool dead_letter = false; // one is being written
  };

  entry& at(std::uint64_t number) { return entries_[number - first_]; }
  const entry& at(std::uint64_t number) const { return entries_[number - first_]; }
  void finish(entry& x, bool keep);
  void drop_finished();

  // Its blocks hold many entries: each message comes through here.
  boost::container::deque<entry, void,
                          boost::container::deque_options_t<boost::container::block_size<64U>>>
      entries_;
  std::uint64_t first_ = 0; // number of the first of those
  std::vector<task> done_;
  bridge_counters counts_;

  mutable std::mutex mutex_; // guards the following
  bridge_counters shown_;
  std::uint64_t settled_below_ = 0;
};

} // namespace pubsub::bridge
