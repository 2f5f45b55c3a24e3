#include "pattern/remote/instance_table.hpp"

#include <algorithm>
#include <utility>

namespace pubsub::pattern {

namespace {

constexpr std::uint64_t most_workers = 10'000;             // that an instance may claim
constexpr std::uint64_t longest_ns = 3'600'000'000'000ULL; // that an instance may claim

} // namespace

instance_table::instance* instance_table::find(const endpoint_id& id) {
  const auto found = all_.find(id);
  return found == all_.end() ? nullptr : &found->second;
}

void instance_table::update(const service_status& status, time now) {
  auto* its = find(status.instance);
  if (its == nullptr) {
    if (status.leaving)
      return;
    its = &all_[status.instance];
    its->stream = next_stream_++;
  }
  its->heard = now;
  its->leaving = status.leaving;
  its->workers = std::clamp<std::uint64_t>(status.workers, 1, most_workers);
  its->operations.clear();
  for (const auto& each : status.operations)
    its->operations[each.name] = each.idempotent;
}

std::optional<instance_table::instance> instance_table::extract(const endpoint_id& id) {
  auto found = all_.extract(id);
  if (!found)
    return {};
  in_flight_ -= found.mapped().places.size();
  return std::move(found.mapped());
}

std::vector<endpoint_id> instance_table::known() const {
  std::vector<endpoint_id> result;
  for (const auto& [id, each] : all_)
    result.push_back(id);
  return result;
}

std::vector<endpoint_id> instance_table::silent_since(time then) const {
  std::vector<endpoint_id> result;
  for (const auto& [id, each] : all_)
    if (each.heard <= then)
      result.push_back(id);
  return result;
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

std::size_t instance_table::count_free(const request_plan& plan, time now) const {
  return static_cast<std::size_t>(std::ranges::count_if(
      all_, [&](const auto& each) { return each.second.is_free(plan, now); }));
}

const instance_table::instance* instance_table::find_for(const std::string& operation) const {
  const instance* known = nullptr;
  for (const auto& [id, each] : all_) {
    if (each.leaving)
      continue;
    known = &each;
    if (each.operations.contains(operation))
      break;
  }
  return known;
}

void instance_table::add_request(instance& at, const std::vector<std::uint64_t>& calls,
                                 std::size_t size_bytes, time now) {
  const auto n = calls.size();
  const auto request = at.requests.add({n, n, size_bytes, now, in_flight_ == 0});
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

reply_sample instance_table::sample_of(instance& at, const reply_view& reply, call_table& calls) {
  if (reply.head.places.empty())
    return {};
  const auto& last = reply.head.places.back();
  const auto* place = at.places.find(last.first + last.count - 1);
  if (place == nullptr)
    return {};
  const auto& by = *at.requests.find(place->request);
  const auto* call = calls.find(place->call);
  reply_sample result;
  result.operation = call != nullptr ? call->operation : 0;
  result.sent = by.at;
  result.here = std::chrono::nanoseconds{std::min(reply.head.here_ns, longest_ns)};
  result.busy = std::chrono::nanoseconds{std::min(reply.head.busy_ns, longest_ns)};
  result.operations = reply.results.size();
  result.asked = by.operations;
  result.request_bytes = by.size_bytes;
  result.alone = by.alone;
  return result;
}

} // namespace pubsub::pattern
