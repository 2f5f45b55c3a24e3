#include "pattern/remote/service_queue.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

#include "pattern/remote/tuning.hpp"

namespace pubsub::pattern {

std::optional<client_places> service_queue::add(service_work work) {
  const auto [found, is_new] = clients_.try_emplace(work.client);
  auto& its = found->second;
  if (work.stream < its.stream || (work.stream == its.stream && work.first < its.next))
    return {};
  if (work.stream > its.stream) {
    its.cancelled.clear();
    its.next = is_new ? work.first : 0;
    its.stream = work.stream;
  }
  const client_places missing{work.client, work.stream, its.next, work.first - its.next};
  its.next = work.first + work.count;
  const auto parts = workers_ == 1 ? 1 : workers_ * tuning::parts_of_a_worker;
  const auto part = std::max<std::uint64_t>((work.count + parts - 1) / parts, 1);
  for (; work.count > part; work.count -= part) {
    auto one = work;
    one.count = part;
    put(its, std::move(one), place::last);
    work.first += part;
    std::advance(work.arguments, static_cast<std::ptrdiff_t>(part));
  }
  if (work.count > 0)
    put(its, std::move(work), place::last);
  return missing;
}

void service_queue::put(client_state& its, service_work work, place at) {
  its.operations += work.count;
  if (!its.held_back)
    ready_ += work.count;
  its.works.insert(at == place::first ? its.works.begin() : its.works.end(), std::move(work));
  give_turn(its);
}

void service_queue::give_turn(client_state& its) {
  if (its.in_turns || its.held_back || its.works.empty())
    return;
  its.in_turns = true;
  turns_.push_back(&its);
}

service_work service_queue::take() {
  auto& its = *turns_.front();
  turns_.pop_front();
  its.in_turns = false;
  auto result = std::move(its.works.front());
  its.works.pop_front();
  its.operations -= result.count;
  ready_ -= result.count;
  give_turn(its);
  if (result.stream == its.stream)
    result.cancelled.assign(its.cancelled.lower_bound(result.first),
                            its.cancelled.lower_bound(result.first + result.count));
  its.in_hand.push_back(result);
  return result;
}

void service_queue::put_back(service_work work) {
  const auto found = clients_.find(work.client);
  if (found == clients_.end())
    return; // the client is forgotten
  auto& its = found->second;
  const auto taken = std::ranges::find_if(its.in_hand, [&](const client_places& x) {
    return x.stream == work.stream && x.first + x.count == work.first + work.count;
  });
  if (taken != its.in_hand.end()) {
    if (work.stream == its.stream)
      its.cancelled.erase(its.cancelled.lower_bound(taken->first),
                          its.cancelled.lower_bound(work.first)); // they are done
    its.in_hand.erase(taken);
  }
  if (work.count > 0)
    put(its, std::move(work), place::first);
}

void service_queue::cancel(const cancel_request& cancel) {
  const auto found = clients_.find(cancel.client);
  if (found == clients_.end() || found->second.stream != cancel.stream)
    return;
  auto& its = found->second;
  const auto holds = [&](const auto& places) {
    return places.stream == cancel.stream && cancel.place - places.first < places.count;
  };
  if (std::ranges::any_of(its.works, holds) || std::ranges::any_of(its.in_hand, holds))
    its.cancelled.insert(cancel.place);
}

void service_queue::hold_back(const endpoint_id& client) {
  const auto found = clients_.find(client);
  if (found == clients_.end() || std::exchange(found->second.held_back, true))
    return;
  ready_ -= found->second.operations;
  if (std::exchange(found->second.in_turns, false))
    std::erase(turns_, &found->second);
}

void service_queue::go_on(const endpoint_id& client) {
  const auto found = clients_.find(client);
  if (found == clients_.end() || !std::exchange(found->second.held_back, false))
    return;
  ready_ += found->second.operations;
  give_turn(found->second);
}

void service_queue::forget(const endpoint_id& client) {
  hold_back(client);
  clients_.erase(client);
}

std::vector<client_places> service_queue::clear() {
  std::vector<client_places> result;
  for (const auto& [id, its] : clients_) {
    result.insert(result.end(), its.works.begin(), its.works.end());
    result.push_back(
        {id, its.stream, its.next, std::numeric_limits<std::uint64_t>::max() - its.next});
  }
  clients_.clear();
  turns_.clear();
  ready_ = 0;
  return result;
}

} // namespace pubsub::pattern
