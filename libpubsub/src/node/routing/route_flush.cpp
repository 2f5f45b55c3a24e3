// SPDX-License-Identifier: BSD-3-Clause
#include "node/routing/route_flush.hpp"

#include <algorithm>

#include "base/entropy.hpp"
#include "node/routing/tuning.hpp"
#include "wire/native/network.hpp"

namespace pubsub {

using namespace routing_tuning;

retired_route& part_of(std::vector<retired_route>& all, const std::shared_ptr<peer_link>& via,
                       std::size_t hops) {
  const auto found = std::ranges::find_if(
      all, [&](const auto& each) { return each.via == via && each.hops == hops; });
  return found != all.end() ? *found : all.emplace_back(retired_route{via, hops, {}});
}

// -- one flush -----------------------------------------------------------------------------------

route_flush::route_flush(const endpoint_id& self, std::uint32_t number, retired_route path,
                         std::function<void()> on_settled)
    : self_(self), number_(number), via_(std::move(path.via)), hops_(path.hops),
      on_settled_(std::move(on_settled)), missing_(path.nodes.begin(), path.nodes.end()),
      give_up_(via_->now() + (via_->out(hops_).makes_wait() ? patience_of_producers_that_wait
                                                            : patience_of_others)) {}

void route_flush::send() {
  flush_request request{self_, number_, static_cast<std::uint8_t>(hops_), {}};
  {
    std::lock_guard lock{mutex_};
    request.to.assign(missing_.begin(), missing_.end());
    sent_ = via_->now();
  }
  via_->out(hops_).push_control(wire::make_flush(request));
}

void route_flush::receive(const flush_answer& answer) {
  {
    std::lock_guard lock{mutex_};
    if (missing_.empty())
      return;
    for (const auto& node : answer.from)
      missing_.erase(node);
    if (!missing_.empty())
      return;
  }
  answered_.notify_all();
  if (on_settled_)
    on_settled_();
}

bool route_flush::settled() {
  {
    std::lock_guard lock{mutex_};
    const auto now = via_->now();
    if (!link_closed_ && via_->closed()) {
      link_closed_ = true;
      give_up_ = std::min<clock::time_point>(give_up_, now + patience_after_closing);
    }
    if (missing_.empty() || now >= give_up_)
      return true;
    if (link_closed_ || now < sent_ + time_between_flushes)
      return false;
  }
  send();
  return false;
}

bool route_flush::wait(const deadline& until) {
  while (!settled()) {
    const auto again = clock::now() + time_between_flushes;
    std::unique_lock lock{mutex_};
    answered_.wait_until(lock, until ? std::min(*until, again) : again,
                         [&] { return missing_.empty(); });
    if (!missing_.empty() && until && clock::now() >= *until)
      return false;
  }
  return true;
}

// -- all flushes ---------------------------------------------------------------------------------

std::shared_ptr<route_flush> route_flushes::begin(retired_route path,
                                                  std::function<void()> on_settled) {
  std::shared_ptr<route_flush> result;
  {
    std::lock_guard lock{mutex_};
    std::erase_if(open_, [](const auto& each) { return each.second.expired(); });
    auto number = random_number(); // so that only nodes on the route know it
    while (open_.contains(number))
      number = random_number();
    result = std::make_shared<route_flush>(self_, number, std::move(path), std::move(on_settled));
    open_[number] = result;
  }
  result->send();
  return result;
}

void route_flushes::receive(const flush_answer& answer) {
  std::shared_ptr<route_flush> found;
  {
    std::lock_guard lock{mutex_};
    if (const auto at = open_.find(answer.number); at != open_.end())
      found = at->second.lock();
  }
  if (found)
    found->receive(answer);
}

} // namespace pubsub
