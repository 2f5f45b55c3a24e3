// SPDX-License-Identifier: BSD-3-Clause
#include "queue/queue_bounds.hpp"

#include <algorithm>

namespace pubsub {

queue_bounds::queue_bounds(const queue_options& options, shared_bounds* shared) noexcept
    : most_{static_cast<std::int64_t>(std::max<std::size_t>(options.capacity_messages, 1)),
            static_cast<std::int64_t>(std::max<std::size_t>(options.capacity_bytes, 1))},
      shared_(shared) {}

void queue_bounds::hold(std::int64_t messages, std::int64_t bytes) noexcept {
  held_.messages += messages;
  held_.bytes += bytes;
  if (shared_ == nullptr)
    return;
  shared_->messages.fetch_add(messages, std::memory_order_relaxed);
  shared_->bytes.fetch_add(bytes, std::memory_order_relaxed);
}

queue_bounds::amount queue_bounds::room() const noexcept {
  if (shared_ == nullptr)
    return {most_.messages - held_.messages, most_.bytes - held_.bytes};
  const auto left = [](std::int64_t all, const std::atomic<std::int64_t>& together,
                       std::int64_t own) {
    return std::max(all - together.load(std::memory_order_relaxed),
                    std::max<std::int64_t>(all / own_part, 1) - own);
  };
  return {left(most_.messages, shared_->messages, held_.messages),
          left(most_.bytes, shared_->bytes, held_.bytes)};
}

bool queue_bounds::low() const noexcept {
  const auto left = room();
  return (left.messages >= (most_.messages + 1) / 2 && left.bytes >= (most_.bytes + 1) / 2) ||
         held_.messages == 0;
}

run_position queue_bounds::room_for_some() const noexcept {
  const auto left = room();
  const auto messages = std::clamp<std::int64_t>(left.messages, 1, message_run::max_messages);
  const auto bytes = std::max<std::int64_t>(left.bytes, 1);
  return {static_cast<std::uint32_t>(messages), static_cast<std::uint64_t>(bytes)};
}

run_position queue_bounds::end_of_part_that_fits(const message_run& run, run_position from,
                                                 run_position to) const noexcept {
  auto end = from;
  const auto left = room();
  while (end.messages < to.messages && end.messages - from.messages < left.messages &&
         static_cast<std::int64_t>(end.bytes - from.bytes) < left.bytes) {
    end.bytes += run.bytes_of(end, 1);
    ++end.messages;
  }
  return end;
}

} // namespace pubsub
