// SPDX-License-Identifier: BSD-3-Clause
#include "history.hpp"

#include <algorithm>

#include "command.hpp"
#include "numbered.hpp"

namespace faults {

void stream_history::visit(std::uint64_t number) {
  if (number < next_) {
    if (close_gap(number)) {
      ++reorders_;
      ++received_;
    } else {
      ++duplicates_;
    }
    return;
  }
  if (received_ == 0)
    first_ = number;
  if (number > next_)
    open_gap({next_, number});
  next_ = number + 1;
  ++received_;
}

void stream_history::open_gap(gap hole) {
  ++gap_count_;
  if (gaps_.size() == max_gaps)
    gaps_.pop_front();
  gaps_.push_back(hole);
}

/// False if `number` is in no gap.
bool stream_history::close_gap(std::uint64_t number) {
  auto found = std::upper_bound(gaps_.begin(), gaps_.end(), number,
                                [](std::uint64_t x, const gap& each) { return x < each.second; });
  if (found == gaps_.end() || number < found->first)
    return false;
  const gap below{found->first, number};
  const gap above{number + 1, found->second};
  found = gaps_.erase(found);
  if (above.first < above.second)
    found = gaps_.insert(found, above);
  if (below.first < below.second)
    gaps_.insert(found, below);
  return true;
}

void history::visit(const pubsub::data_message& msg) {
  if (const auto head = read_numbered(msg))
    stream_of(head->publisher, pubsub::get_topic(msg)).visit(head->number);
  else
    ++corrupt_;
}

stream_history& history::stream_of(std::uint64_t publisher, std::string_view topic) {
  auto& known = publishers_[publisher];
  auto found = known.find(topic);
  if (found == known.end())
    found = known.emplace(topic, stream_history{}).first;
  return found->second;
}

std::string history::streams_json() const {
  json_list all;
  for (const auto& [publisher, by_topic] : publishers_)
    for (const auto& [topic, each] : by_topic) {
      constexpr std::size_t shown = 64;
      json_list gaps;
      for (std::size_t i = 0; i < std::min(shown, each.gaps().size()); ++i) {
        const auto& [from, to] = each.gaps()[i];
        gaps.add("[" + std::to_string(from) + "," + std::to_string(to) + "]");
      }
      all.add(json_object{}
                  .add("publisher", publisher)
                  .add("topic", topic)
                  .add("first", each.first())
                  .add("next", each.next())
                  .add("received", each.received())
                  .add("missing", each.missing())
                  .add("duplicates", each.duplicates())
                  .add("reorders", each.reorders())
                  .add("gap_count", each.gap_count())
                  .add_raw("gaps", gaps.text())
                  .text());
    }
  return all.text();
}

} // namespace faults
