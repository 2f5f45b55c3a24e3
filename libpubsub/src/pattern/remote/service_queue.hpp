// What an instance of a service has to do: clients get their turns one after the other. Pure.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include <pubsub/data_message.hpp>
#include <pubsub/data_view.hpp>
#include <pubsub/value/endpoint_id.hpp>

#include "pattern/remote/remote_messages.hpp"
#include "pattern/remote/tuning.hpp"

namespace pubsub::pattern {

struct service_operation;
class reply_outbox;

/// Operations of one request, or a part of them.
struct service_work : client_places {
  std::shared_ptr<reply_outbox> to{};      ///< where results go
  const service_operation* what = nullptr; ///< null: the service has none of this name
  data_view::iterator arguments{};
  data_message storage{}; ///< of the arguments
  std::chrono::steady_clock::time_point arrived{};
  std::vector<std::uint64_t> cancelled{}; ///< of its places, ascending
};

/// Not thread-safe. Places of a client's stream come in their order, each once: what is below was
/// taken before, what is left out was lost on the way.
class service_queue {
public:
  /// A request is done in parts, so that all workers have their share.
  service_queue(std::size_t workers, std::size_t limit) : workers_(workers), limit_(limit) {}

  /// Returns the places before it that were lost on the way, which may be none; nothing if the
  /// request came before, or too late.
  std::optional<client_places> add(service_work work) {
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
      put(its, its.works.end(), std::move(one));
      work.first += part;
      std::advance(work.arguments, static_cast<std::ptrdiff_t>(part));
    }
    if (work.count > 0)
      put(its, its.works.end(), std::move(work));
    return missing;
  }
  /// What is done already does not matter.
  void cancel(const cancel_request& cancel) {
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
  /// There must be some. All that is taken is put back.
  service_work take() {
    auto& its = *turns_.front();
    turns_.pop_front();
    auto result = std::move(its.works.front());
    its.works.pop_front();
    its.operations -= result.count;
    ready_ -= result.count;
    if (!its.works.empty())
      turns_.push_back(&its);
    if (result.stream == its.stream)
      result.cancelled.assign(its.cancelled.lower_bound(result.first),
                              its.cancelled.lower_bound(result.first + result.count));
    its.in_hand.push_back(result);
    return result;
  }
  /// What is left of it, if anything, goes on in the client's next turn.
  void put_back(service_work work) {
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
      put(its, its.works.begin(), std::move(work));
  }
  bool empty() const noexcept { return turns_.empty(); }
  /// No more should be read: what clients that are held back wait for does not count.
  bool full() const noexcept { return ready_ >= limit_; }

  /// Hands out no work of this client, which does not read its replies, until `go_on`.
  void hold_back(const endpoint_id& client) {
    const auto found = clients_.find(client);
    if (found == clients_.end() || std::exchange(found->second.held_back, true))
      return;
    ready_ -= found->second.operations;
    std::erase(turns_, &found->second);
  }
  void go_on(const endpoint_id& client) {
    const auto found = clients_.find(client);
    if (found == clients_.end() || !std::exchange(found->second.held_back, false))
      return;
    ready_ += found->second.operations;
    if (!found->second.works.empty())
      turns_.push_back(&found->second);
  }
  void forget(const endpoint_id& client) {
    hold_back(client);
    clients_.erase(client);
  }
  /// All that has not been taken, and of the last stream of each client what has not come.
  std::vector<client_places> clear() {
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

private:
  struct client_state {
    std::uint64_t stream = 0;
    std::uint64_t next = 0;            // places below have come
    std::set<std::uint64_t> cancelled; // of `stream`, in works or in hand
    std::deque<service_work> works;
    std::vector<client_places> in_hand; // taken and not put back
    std::size_t operations = 0;         // in works
    bool held_back = false;
  };
  using position = std::deque<service_work>::const_iterator;

  void put(client_state& its, position before, service_work work) {
    its.operations += work.count;
    if (!its.held_back)
      ready_ += work.count;
    if (!its.held_back && its.works.empty())
      turns_.push_back(&its);
    its.works.insert(before, std::move(work));
  }

  const std::size_t workers_, limit_;
  std::map<endpoint_id, client_state> clients_;
  std::deque<client_state*> turns_; // those that have work and are not held back
  std::size_t ready_ = 0;           // operations of these
};

} // namespace pubsub::pattern
