// SPDX-License-Identifier: BSD-3-Clause
#include "node/routing/route_selection.hpp"

#include <algorithm>
#include <bit>

#include "node/routing/tuning.hpp"

namespace pubsub {

namespace {

constexpr std::size_t word_bits = 64;

void set_bit(std::vector<std::uint64_t>& bits, std::size_t i) {
  bits[i / word_bits] |= std::uint64_t{1} << (i % word_bits);
}

template <class Visitor>
void for_each_bit(std::span<const std::uint64_t> bits, Visitor visit) {
  for (std::size_t word = 0; word < bits.size(); ++word)
    for (auto left = bits[word]; left != 0; left &= left - 1)
      visit(word * word_bits + static_cast<std::size_t>(std::countr_zero(left)));
}

} // namespace

/// A link with more conditions behind it than a node evaluates for a message gets everything.
route_selection::route_selection(std::span<const link_wish> wishes)
    : always_((wishes.size() + word_bits - 1) / word_bits), all_(always_), chosen_(always_) {
  std::vector<condition_set::condition_ptr> conditions;
  std::map<const condition*, std::size_t> numbers;
  for (std::size_t link = 0; link < wishes.size(); ++link) {
    set_bit(all_, link);
    const auto& wish = wishes[link];
    if (wish.everything ||
        conditions.size() + wish.conditions.size() > routing_tuning::max_conditions_of_route) {
      set_bit(always_, link);
      continue;
    }
    for (const auto& each : wish.conditions) {
      const auto [at, fresh] = numbers.emplace(each.get(), conditions.size());
      if (fresh) {
        conditions.push_back(each);
        links_of_.emplace_back();
      }
      links_of_[at->second].push_back(static_cast<std::uint32_t>(link));
    }
  }
  conditions_ = std::make_unique<condition_set>(std::move(conditions));
  if (conditions_->evaluated() > routing_tuning::max_conditions_evaluated)
    always_ = all_;
  all_always_ = always_ == all_;
}

route_selection::~route_selection() = default;

const route& route_selection::choose(const route& whole, std::string_view topic,
                                     std::span<const std::byte> value,
                                     conditions::log_columns& columns) {
  if (all_always_)
    return whole;
  const auto wanting = conditions_->wanting(topic, value, columns);
  if (wanting.empty() && unwanted_ != nullptr)
    return *unwanted_;
  std::ranges::copy(always_, chosen_.begin());
  for_each_bit(wanting, [&](std::size_t condition) {
    for (const auto link : links_of_[condition])
      set_bit(chosen_, link);
  });
  if (wanting.empty())
    return *(unwanted_ = &with_links(whole, chosen_));
  return chosen_ == all_ ? whole : with_links(whole, chosen_);
}

const route& route_selection::with_links(const route& whole, const bits& chosen) {
  if (const auto known = routes_.find(chosen); known != routes_.end())
    return *known->second;
  if (routes_.size() >= routing_tuning::max_choices_of_route)
    return whole;
  auto fresh = std::make_unique<route>();
  fresh->queues = whole.queues;
  fresh->exits.assign(whole.to_queues().begin(), whole.to_queues().end());
  for_each_bit(chosen, [&](std::size_t link) {
    fresh->links.push_back(whole.links[link]);
    fresh->exits.push_back(whole.to_links()[link]);
  });
  fresh->broker_peers = whole.broker_peers; // who want everything, and come first
  fresh->nodes = whole.nodes;
  fresh->unreachable = whole.unreachable;
  fresh->unwanted_here = whole.unwanted_here;
  fresh->left_out.denied = whole.left_out.denied;
  fresh->left_out.withheld = static_cast<std::uint32_t>(whole.links.size() - fresh->links.size());
  return *routes_.emplace(chosen, std::move(fresh)).first->second;
}

} // namespace pubsub
