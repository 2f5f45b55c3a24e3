// SPDX-License-Identifier: BSD-3-Clause
#include "link/native_protocol.hpp"

#include <algorithm>
#include <utility>

#include "link/tuning.hpp"

namespace pubsub {

frame_bounds native_protocol::bounds(std::uint32_t max_frame_bytes) const noexcept {
  return {max_frame_bytes, wire::batch_flag,
          std::max(max_frame_bytes, link_tuning::max_batch_bytes)};
}

// -- credit --------------------------------------------------------------------------------------

void native_protocol::give_credit(std::span<credit_gate> used, outboxes& to, bool small_too) const {
  for (std::size_t hops = 0; hops < used.size(); ++hops)
    if (const auto bytes = used[hops].settle(small_too); bytes > 0)
      to.push_control(wire::make_credit({static_cast<std::uint8_t>(hops), bytes}));
}

void native_protocol::grant(std::size_t hops, std::uint32_t bytes) noexcept {
  const auto place = std::min(hops, wire::max_hops - 1);
  credit_[place] = std::min(credit_[place] + bytes, link_tuning::most_credit_bytes);
  if (credit_[place] > 0)
    waits_[place] = false;
}

// -- taking --------------------------------------------------------------------------------------

void native_protocol::take(outboxes& from, gathered_write& out) {
  one_place_ = from.has_one_place();
  take_from(from.control(), 0, out);
  if (take_messages(from, out) || !out.slices.empty())
    return;
  if (auto* const last = from.last())
    take_from(*last, 0, out);
}

/// The outboxes in turn, each as far as its credit goes. True if there may be messages for which
/// the peer has given no credit.
bool native_protocol::take_messages(outboxes& from, gathered_write& out) {
  using namespace link_tuning;
  bool more = false;
  std::size_t total = 0;
  const auto places = one_place_ ? 1 : wire::max_hops;
  const auto first = next_++;
  for (std::size_t i = 0;
       i < places && out.slices.size() < max_slices_per_write && total < max_bytes_per_write; ++i) {
    const auto hops = one_place_ ? 0 : (first + i) % wire::max_hops;
    auto* const found = from.find(hops);
    if (found == nullptr)
      continue;
    auto& credit = credit_[hops];
    if (credit <= 0) {
      if (!found->armed() && !std::exchange(waits_[hops], true))
        from.count_credit_wait();
      more = true;
      continue;
    }
    const auto taken = take_from(
        *found, hops, out, std::min(max_bytes_per_write - total, static_cast<std::size_t>(credit)));
    credit -= static_cast<std::int64_t>(taken);
    total += taken;
  }
  return more;
}

// -- encoding ------------------------------------------------------------------------------------

std::size_t native_protocol::encode_records(const run_slice& slice, gathered_write& out) {
  const auto number = number_of(slice.run->topics());
  const auto announced = announce_topics(tables_[number], number, out);
  auto origin = slice.run->origin();
  origin.first_sequence += slice.from.messages;
  if (one_place_) // the peer gives credit for that place
    origin.hops_left = wire::max_hops;
  auto* header = out.memory.reserve(wire::batch_header_bytes);
  wire::write_batch_header(header, {number, slice.size.messages, origin}, slice.size.bytes);
  out.memory.commit(wire::batch_header_bytes);
  out.buffers.emplace_back(header, wire::batch_header_bytes);
  out.buffers.emplace_back(slice.run->bytes() + slice.from.bytes, slice.size.bytes);
  return announced + wire::batch_header_bytes + slice.size.bytes;
}

/// Announces the topics that the peer does not know yet; they come before the records that name
/// them.
std::size_t native_protocol::announce_topics(table_use& use, std::uint16_t number,
                                             gathered_write& out) {
  use.last_use = ++uses_;
  std::size_t total = 0;
  for (const auto size = use.table->size(); use.announced < size;) {
    const auto end = std::min(size, use.announced + link_tuning::most_topics_per_frame);
    total += out.append(wire::make_topics(number, *use.table, use.announced, end, via_));
    if (use.announced == 0 && !use.table->entry_relay().is_nil())
      total += out.append(wire::make_entry({number, use.table->entry_relay()}));
    use.announced = end;
  }
  return total;
}

std::uint16_t native_protocol::number_of(const topic_table* topics) {
  if (const auto found = numbers_.find(topics); found != numbers_.end())
    return found->second;
  const auto number = free_number();
  tables_[number] = {.table = intrusive_ptr<const topic_table>::share(topics)};
  numbers_.emplace(topics, number);
  return number;
}

/// A number not in use, or that of the table not used for longest: the peer forgets that table when
/// the new one's topics are announced from 0 on.
std::uint16_t native_protocol::free_number() {
  if (tables_.size() < wire::max_tables) {
    tables_.emplace_back();
    return static_cast<std::uint16_t>(tables_.size() - 1);
  }
  const auto oldest = std::ranges::min_element(tables_, {}, &table_use::last_use);
  numbers_.erase(oldest->table.get());
  return static_cast<std::uint16_t>(oldest - tables_.begin());
}

} // namespace pubsub
