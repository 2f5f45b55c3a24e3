// How much memory the reports of each neighbour take.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <unordered_map>

#include <pubsub/value/endpoint_id.hpp>

namespace pubsub {

/// Of all that is known of the network, the bytes that each neighbour has reported. Together they
/// have a bound; beyond it the neighbour with the largest share has to go. Since every node keeps
/// to the same bound, one that passes on the reports of a liar loses that one first. Not
/// thread-safe.
class report_shares {
public:
  static constexpr std::size_t max_bytes = std::size_t{256} << 20;

  void add(const endpoint_id& neighbour, std::size_t bytes) {
    shares_[neighbour] += bytes;
    total_ += bytes;
  }
  void remove(const endpoint_id& neighbour, std::size_t bytes) {
    const auto found = shares_.find(neighbour);
    if (found == shares_.end())
      return;
    total_ -= bytes;
    if ((found->second -= bytes) == 0)
      shares_.erase(found);
  }
  std::size_t bytes() const noexcept { return total_; }
  std::size_t bytes_of(const endpoint_id& neighbour) const {
    const auto found = shares_.find(neighbour);
    return found == shares_.end() ? 0 : found->second;
  }
  bool fit() const noexcept { return total_ <= max_bytes; }
  bool is_largest(const endpoint_id& neighbour) const {
    const auto found = shares_.find(neighbour);
    return found != shares_.end() && std::ranges::all_of(shares_, [&](const auto& each) {
             return each.second <= found->second;
           });
  }

private:
  std::unordered_map<endpoint_id, std::size_t> shares_;
  std::size_t total_ = 0;
};

} // namespace pubsub
