// The instances of a service that a client knows, and what each was asked. Pure.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include <pubsub/value/endpoint_id.hpp>

#include "pattern/remote/id_map.hpp"
#include "pattern/remote/remote_messages.hpp"
#include "pattern/remote/remote_plan.hpp"

namespace pubsub::pattern {

/// Not thread-safe.
class instance_table {
public:
  using time = std::chrono::steady_clock::time_point;

  struct instance {
    std::uint64_t stream = 0;
    std::uint64_t workers = 1;
    std::map<std::string, bool, std::less<>> operations{}; ///< and whether they are idempotent
    bool leaving = false;
    time last_message{};
    time blocked_until{};           ///< nothing could be sent to it
    id_map<std::uint64_t> places{}; ///< the calls that are not answered
    std::deque<sent_request> requests{};
    std::size_t late = 0; ///< calls that were given up since it last replied

    /// It may get one more request.
    bool is_free(const request_plan& plan, time now) const noexcept {
      return !leaving && now >= blocked_until && !(plan.one_per_instance && !places.empty());
    }
  };
  using map = std::map<endpoint_id, instance>;

  const map& all() const noexcept { return all_; }
  instance* find(const endpoint_id& id) {
    const auto found = all_.find(id);
    return found == all_.end() ? nullptr : &found->second;
  }
  /// What a status says of an instance; one that leaves and is not known is left out.
  void update(const service_status& status, time now) {
    constexpr std::uint64_t most_workers = 10'000; // that an instance may claim
    if (status.leaving && !all_.contains(status.instance))
      return;
    auto& its = all_[status.instance];
    if (its.stream == 0)
      its.stream = next_stream_++;
    its.last_message = now;
    its.leaving = status.leaving;
    its.workers = std::clamp<std::uint64_t>(status.workers, 1, most_workers);
    its.operations.clear();
    for (const auto& [name, idempotent] : status.operations)
      its.operations.emplace(name, idempotent);
  }
  /// Out of the table: it is not known any more.
  std::optional<instance> extract(const endpoint_id& id) {
    auto found = all_.extract(id);
    if (!found)
      return {};
    in_flight_ -= found.mapped().places.size();
    return std::move(found.mapped());
  }
  /// Of those that do not leave.
  service_size size() const noexcept {
    service_size result{0, 0};
    for (const auto& [id, each] : all_) {
      result.instances += each.leaving ? 0 : 1;
      result.workers += each.leaving ? 0 : each.workers;
    }
    return result;
  }

  /// The one with the least to do for each of its workers, of those that have the operation and may
  /// get a request; null: there is none.
  map::value_type* choose(const std::string& operation, const request_plan& plan, time now) {
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

  /// Operations sent and not answered, of all instances.
  std::size_t in_flight() const noexcept { return in_flight_; }
  /// Places for the calls of a request follow. Requests whose calls are answered are forgotten.
  void add_request(instance& at, std::size_t operations, std::size_t size_bytes, time now) {
    while (at.requests.size() > 1 && at.requests[1].first_place <= at.places.begin())
      at.requests.pop_front();
    at.requests.push_back({operations, size_bytes, now, at.places.end()});
  }
  std::uint64_t add_place(instance& at, std::uint64_t call) {
    ++in_flight_;
    return at.places.add(call);
  }
  /// The call at this place, which then is answered. Nothing if it was.
  std::optional<std::uint64_t> take_place(instance& at, std::uint64_t place) {
    const auto* found = at.places.find(place);
    if (found == nullptr)
      return {};
    const auto call = *found;
    at.places.erase(place);
    --in_flight_;
    return call;
  }

private:
  map all_;
  std::uint64_t next_stream_ = 1;
  std::size_t in_flight_ = 0;
};

} // namespace pubsub::pattern
