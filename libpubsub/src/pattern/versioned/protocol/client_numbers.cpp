#include "pattern/versioned/protocol/client_numbers.hpp"

#include <algorithm>

#include "pattern/versioned/protocol/tuning.hpp"

namespace pubsub::pattern {

client_numbers::answer client_numbers::ask(const endpoint_id& client, std::uint64_t first,
                                           std::uint64_t settled) const {
  const auto found = clients_.find(client);
  const std::uint64_t next = found == clients_.end() ? 1 : found->second.next;
  if (first < next) {
    for (const auto& each : found->second.recent)
      if (each.client_first == first)
        return {verdict::here, each};
    return {verdict::past, {}};
  }
  if (first < settled)
    return {verdict::past, {}};
  return {first == std::max(next, settled) ? verdict::next : verdict::early, {}};
}

void client_numbers::add(const endpoint_id& client, const stamped_run& run) {
  auto& its = clients_[client];
  its.next = std::max(its.next, run.client_first + run.count);
  its.recent.push_back(run);
  if (its.recent.size() > tuning::most_recent_runs)
    its.recent.pop_front();
  if (clients_.size() > tuning::most_clients)
    forget_some();
}

void client_numbers::take_back(const endpoint_id& client, const stamped_run& run) {
  const auto found = clients_.find(client);
  if (found == clients_.end() || found->second.recent.empty() ||
      found->second.recent.back().at != run.at)
    return;
  found->second.recent.pop_back();
  found->second.next = run.client_first;
}

std::vector<client_progress> client_numbers::all() const {
  std::vector<client_progress> result;
  result.reserve(clients_.size());
  for (const auto& [client, its] : clients_)
    result.push_back({client, its.next, {its.recent.begin(), its.recent.end()}});
  return result;
}

void client_numbers::assign(const std::vector<client_progress>& all) {
  clients_.clear();
  for (const auto& each : all)
    clients_[each.client] = {each.next, {each.recent.begin(), each.recent.end()}};
}

/// Forgets the half of the clients that have been silent for longest.
void client_numbers::forget_some() {
  const auto last_of = [](const progress& x) {
    return x.recent.empty() ? 0 : x.recent.back().at.number;
  };
  std::vector<std::uint64_t> last;
  for (const auto& [client, its] : clients_)
    last.push_back(last_of(its));
  const auto middle = last.begin() + static_cast<std::ptrdiff_t>(last.size() / 2);
  std::nth_element(last.begin(), middle, last.end());
  std::erase_if(clients_, [&](const auto& each) { return last_of(each.second) < *middle; });
}

} // namespace pubsub::pattern
