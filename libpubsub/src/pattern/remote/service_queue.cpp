#include "pattern/remote/service_queue.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

#include "pattern/remote/tuning.hpp"

namespace pubsub::pattern {

service_queue::arrival service_queue::add(service_work work) {
  const auto [found, is_new] = clients_.try_emplace(work.client);
  auto& its = found->second;
  if (work.stream < its.stream || (work.stream == its.stream && work.first < its.next))
    return {};
  arrival result{true, {}};
  if (work.stream > its.stream) {
    its.cancelled.clear();
    its.next = is_new ? work.first : 0;
    its.stream = work.stream;
  }
  if (work.first > its.next)
    result.missing = number_run{its.next, work.first - its.next};
  its.next = work.first + work.count;
  const auto parts = workers_ == 1 ? 1 : workers_ * tuning::parts_of_a_worker;
  const auto part = std::max<std::size_t>((work.count + parts - 1) / parts, 1);
  while (work.count > part) {
    auto one = work;
    one.count = part;
    put(found->first, its, std::move(one), place::last);
    work.first += part;
    work.count -= part;
    std::advance(work.arguments, static_cast<std::ptrdiff_t>(part));
  }
  if (work.count > 0)
    put(found->first, its, std::move(work), place::last);
  return result;
}

void service_queue::put(const endpoint_id& id, client_state& its, service_work work, place at) {
  its.operations += work.count;
  if (!its.held_back)
    ready_ += work.count;
  its.works.insert(at == place::first ? its.works.begin() : its.works.end(), std::move(work));
  give_turn(id, its);
}

void service_queue::put_back(service_work work) {
  const auto found = clients_.find(work.client);
  if (found == clients_.end())
    return; // nobody waits for it
  auto& its = found->second;
  const auto taken = std::ranges::find_if(its.in_hand, [&](const taken_part& x) {
    return x.stream == work.stream && x.places.first + x.places.count == work.first + work.count;
  });
  if (taken != its.in_hand.end()) {
    if (work.stream == its.stream)
      its.cancelled.erase(its.cancelled.lower_bound(taken->places.first),
                          its.cancelled.lower_bound(work.first)); // they had begun
    its.in_hand.erase(taken);
  }
  const auto done = work.cancelled.size() - std::min(work.cancelled.size(), work.count);
  for (auto i = done; i < work.cancelled.size(); ++i)
    if (work.cancelled[i] && work.stream == its.stream)
      its.cancelled.insert(work.first + i - done);
  work.cancelled.clear();
  if (work.count > 0)
    put(found->first, its, std::move(work), place::first);
}

void service_queue::give_turn(const endpoint_id& id, client_state& its) {
  if (its.in_turns || its.held_back || its.works.empty())
    return;
  its.in_turns = true;
  turns_.push_back(id);
}

service_work service_queue::take() {
  const auto id = turns_.front();
  turns_.pop_front();
  auto& its = clients_.at(id);
  its.in_turns = false;
  auto result = std::move(its.works.front());
  its.works.pop_front();
  its.operations -= result.count;
  ready_ -= result.count;
  give_turn(id, its);
  result.cancelled = take_cancelled(its, result);
  its.in_hand.push_back({result.stream, {result.first, result.count}});
  return result;
}

std::vector<bool> service_queue::take_cancelled(client_state& its, const service_work& of) {
  std::vector<bool> result;
  if (its.cancelled.empty() || of.stream != its.stream)
    return result;
  const auto first = its.cancelled.lower_bound(of.first);
  const auto end = its.cancelled.lower_bound(of.first + of.count);
  if (first == end)
    return result;
  result.resize(of.count);
  for (auto each = first; each != end; ++each)
    result[*each - of.first] = true;
  its.cancelled.erase(first, end);
  return result;
}

void service_queue::cancel(const cancel_request& cancel) {
  const auto found = clients_.find(cancel.client);
  if (found == clients_.end() || found->second.stream != cancel.stream)
    return;
  auto& its = found->second;
  for (const auto& each : its.works)
    if (each.stream == cancel.stream)
      cancel_some(its, cancel.places, {each.first, each.count});
  for (const auto& each : its.in_hand) // what is put back of it
    if (each.stream == cancel.stream)
      cancel_some(its, cancel.places, each.places);
}

void service_queue::cancel_some(client_state& its, const std::vector<number_run>& places,
                                const number_run& of) {
  const auto end = of.first + of.count;
  auto run = std::ranges::upper_bound(places, of.first, {}, &number_run::first);
  if (run != places.begin())
    --run;
  for (; run != places.end() && run->first < end; ++run)
    for (auto each = std::max(run->first, of.first); each < end && each - run->first < run->count;
         ++each)
      its.cancelled.insert(each);
}

void service_queue::hold_back(const endpoint_id& client) {
  const auto found = clients_.find(client);
  if (found == clients_.end() || std::exchange(found->second.held_back, true))
    return;
  ready_ -= found->second.operations;
  if (std::exchange(found->second.in_turns, false))
    std::erase(turns_, client);
}

void service_queue::go_on(const endpoint_id& client) {
  const auto found = clients_.find(client);
  if (found == clients_.end() || !std::exchange(found->second.held_back, false))
    return;
  ready_ += found->second.operations;
  give_turn(client, found->second);
}

void service_queue::forget(const endpoint_id& client) {
  hold_back(client);
  clients_.erase(client);
}

std::vector<service_queue::open_end> service_queue::open_ends() const {
  std::vector<open_end> result;
  for (const auto& [id, its] : clients_)
    result.push_back(
        {id, its.stream, {its.next, std::numeric_limits<std::uint64_t>::max() - its.next}});
  return result;
}

std::vector<service_work> service_queue::clear() {
  std::vector<service_work> result;
  for (auto& [id, its] : clients_)
    std::ranges::move(its.works, std::back_inserter(result));
  clients_.clear();
  turns_.clear();
  ready_ = 0;
  return result;
}

} // namespace pubsub::pattern
