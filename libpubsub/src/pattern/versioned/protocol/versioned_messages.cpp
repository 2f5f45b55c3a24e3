// SPDX-License-Identifier: BSD-3-Clause
#include "pattern/versioned/protocol/versioned_messages.hpp"

#include <algorithm>

namespace pubsub::pattern {

bool submit_message::adds_up() const {
  constexpr std::uint64_t most = 1 << 20; // a client sends less at once
  return scheme <= static_cast<std::uint64_t>(versioning::tagged) && first > 0 && count <= most &&
         is_range(first, count) && values.count == (asks(versioning::version_request) ? 0 : count);
}

bool record_message::adds_up() const {
  const bool without_values = client.is_nil() || (flags & record_flag::submitted) != 0;
  return run.at.number > 0 && values.count == (without_values ? 0 : run.count);
}

bool start_message::adds_up() const {
  const auto out_of_order = std::ranges::adjacent_find(
      runs, [](const auto& x, const auto& next) { return x.first >= next.first; });
  const bool one_epoch = at.promised == at.number && at.list.epoch == at.number;
  return one_epoch && commit <= end && out_of_order == runs.end() &&
         (runs.empty() || (runs.front().first > 0 && runs.back().first <= end));
}

std::optional<group_message> parse_message(const data_view& value) {
  std::optional<group_message> result{std::in_place};
  if (!read_any(value, *result))
    result.reset();
  return result;
}

} // namespace pubsub::pattern
