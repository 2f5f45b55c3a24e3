#include "pattern/remote/instance_table.hpp"

#include <algorithm>
#include <utility>

namespace pubsub::pattern {

instance_table::instance* instance_table::find(const endpoint_id& id) {
  const auto found = all_.find(id);
  return found == all_.end() ? nullptr : &found->second;
}

void instance_table::update(const service_status& status, time now) {
  constexpr std::uint64_t most_workers = 10'000; // that an instance may claim
  if (status.leaving && !all_.contains(status.instance))
    return;
  auto& its = all_[status.instance];
  if (its.stream == 0)
    its.stream = next_stream_++;
  its.last_message = now;
  its.leaving = status.leaving;
  its.workers = std::clamp<std::uint64_t>(status.workers, 1, most_workers);
  its.operations = status.operations;
}

std::optional<instance_table::instance> instance_table::extract(const endpoint_id& id) {
  auto found = all_.extract(id);
  if (!found)
    return {};
  in_flight_ -= found.mapped().places.size();
  return std::move(found.mapped());
}

service_size instance_table::size() const noexcept {
  service_size result{0, 0};
  for (const auto& [id, each] : all_) {
    result.instances += each.leaving ? 0 : 1;
    result.workers += each.leaving ? 0 : each.workers;
  }
  return result;
}

instance_table::map::value_type* instance_table::choose(const std::string& operation,
                                                        const request_plan& plan, time now) {
  map::value_type* best = nullptr;
  double least = 0;
  for (auto& each : all_) {
    const auto& its = each.second;
    if (!its.is_free(plan, now) || !its.operations.contains(operation))
      continue;
    const auto load =
        static_cast<double>(its.places.size() + its.late) / static_cast<double>(its.workers);
    if (best == nullptr || load < least) {
      best = &each;
      least = load;
    }
  }
  return best;
}

void instance_table::add_request(instance& at, const std::vector<std::uint64_t>& calls,
                                 std::size_t size_bytes, time now) {
  const auto n = calls.size();
  const auto request = at.requests.add({n, n, size_bytes, now});
  for (const auto number : calls)
    at.places.add({number, request});
  in_flight_ += n;
}

std::optional<std::uint64_t> instance_table::take_place(instance& at, std::uint64_t place) {
  const auto* found = at.places.find(place);
  if (found == nullptr)
    return {};
  const auto its = *found;
  at.places.erase(place);
  --in_flight_;
  if (--at.requests.find(its.request)->left == 0)
    at.requests.erase(its.request);
  return its.call;
}

} // namespace pubsub::pattern
