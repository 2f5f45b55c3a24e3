// SPDX-License-Identifier: BSD-3-Clause
#include "endpoint/core.hpp"

#include <algorithm>

#include "base/node_name.hpp"

namespace pubsub {

namespace {

endpoint_options with_name(endpoint_options x) {
  if (x.name.empty())
    x.name = host_name();
  return x;
}

/// In which a thread that has found its route for a message sends it.
constexpr std::chrono::milliseconds time_to_send{50};
/// Those that have not taken another relay by then are parted from; they take one after that.
constexpr std::chrono::seconds time_for_clients_to_move{5};

} // namespace

endpoint_core::endpoint_core(endpoint_options options)
    : fault_(check(options)), options_(with_name(fault_ ? std::move(options) : endpoint_options{})),
      id_(options_.id ? *options_.id : endpoint_id::random()),
      routes_(id_, options_.forward_topics, starts_as_relay(options_), options_.name,
              options_.broker_transit == broker_transit::on, options_.regex),
      peering_(std::make_shared<peering>(id_, options_, routes_, events_, counts_)) {
  routes_.report_later_by([weak = std::weak_ptr{peering_}](auto delay) {
    if (const auto self = weak.lock())
      self->report_later(delay);
  });
  if (!fault_)
    close();
}

expected<void> endpoint_core::connect(const endpoint& self, std::string_view uri,
                                      const peer_options& options, bool wait) {
  if (!fault_)
    return fault_;
  if (auto ok = check(options); !ok)
    return ok;
  if (const auto* const scheme = gateways_.scheme_of(uri))
    return connect(self, *scheme, std::string{uri}, options, wait);
  return peering_->connect(uri, options, wait);
}

expected<void> endpoint_core::connect(const endpoint& self, const gateway_scheme& scheme,
                                      const std::string& uri, const peer_options& options,
                                      bool wait) {
  if (!options.retry)
    return error{errc::invalid_argument, uri + ": what is lost there is always looked for again, "
                                               "so peer_options::retry must be given"};
  if (closed())
    return errc::shutting_down;
  auto found = gateways_.find(uri);
  if (!found) {
    auto link = options;
    if (!link.link_queue)
      link.link_queue = options_.link_queue;
    auto made = scheme.open(
        self,
        {.uri = uri,
         .failed =
             [this, uri](const error& reason) {
               events_.publish({reason.code(), {}, network_info{uri, 0}, reason.context()});
             }},
        link);
    if (!made)
      return made.error();
    found = std::move(*made);
    if (auto added = gateways_.add(uri, found); !added)
      return added;
  }
  if (!wait || found->wait_connected(options.timeout))
    return {};
  if (closed())
    return errc::shutting_down;
  return error{errc::peer_unavailable, uri + ": " + found->problem()};
}

expected<void> endpoint_core::disconnect(const endpoint_id& id, std::chrono::nanoseconds timeout) {
  const auto peers = peering_->peers();
  const auto found = std::ranges::find(peers, id, &peer_info::id);
  auto result = peering_->disconnect(id, timeout);
  if (found != peers.end() && found->network)
    gateways_.remove(found->network->address);
  return result;
}

expected<void> endpoint_core::disconnect(std::string_view uri, std::chrono::nanoseconds timeout) {
  if (!gateways_.scheme_of(uri))
    return peering_->disconnect(uri, timeout);
  const std::string address{uri};
  if (!gateways_.find(address))
    return error{errc::peer_invalid, address + " is not a peer"};
  expected<void> result;
  if (std::ranges::any_of(peering_->peers(), [&](const auto& each) {
        return each.network && each.network->address == address;
      }))
    result = peering_->disconnect(uri, timeout);
  gateways_.remove(address);
  return result;
}

std::vector<peer_info> endpoint_core::known_peers() const {
  auto result = peering_->peers();
  if (closed())
    return result;
  for (auto& each : gateways_.look()) {
    const auto is_it = [&](const peer_info& x) {
      return x.network && x.network->address == each.uri;
    };
    if (std::ranges::any_of(result, is_it))
      continue;
    auto& away = result.emplace_back();
    away.network = network_info{std::move(each.uri), 0};
    away.outgoing = true;
  }
  return result;
}

/// Once all nodes avoid this one, what they have sent before is on the links to it. But a thread
/// that has found its route already may still wait for room in a queue, or for a processor: so the
/// links have to be read without anything to pass on for a while.
bool endpoint_core::retire(const deadline& until) {
  bool avoided = routes_.retire(until);
  const auto moved_by = deadline_after(time_for_clients_to_move);
  routes_.move_clients(until ? std::min(*until, *moved_by) : moved_by);
  avoided = routes_.wait_until_all_has_come(until) && avoided;
  bool in_time = peering_->part_from_clients(until) && avoided;
  for (auto before = ~std::uint64_t{0}; in_time && !closed();) {
    in_time = peering_->wait_until_all_is_read(until);
    if (before == std::exchange(before, counters().forwarded))
      break;
    std::this_thread::sleep_for(time_to_send);
  }
  return in_time && !closed();
}

std::unique_ptr<outbound> endpoint_core::make_outbound(const message_queue* except) {
  return std::make_unique<outbound>(id_, routes_, options_.own_messages == own_messages::deliver,
                                    options_.max_frame_bytes, counts_.make(), except);
}

endpoint_core::lendable* endpoint_core::borrow() {
  auto* const found = at_hand_.exchange(nullptr, std::memory_order_acq_rel);
  if (found != nullptr && found->last == std::this_thread::get_id())
    return found;
  return borrow_from_shelf(found);
}

/// The one this thread had last, so that its messages stay in order without ending its run; else
/// any, whose run is ended. Then the one it had last, which another thread is about to shelve, is
/// its own no more: its run is ahead of those that follow.
endpoint_core::lendable* endpoint_core::borrow_from_shelf(lendable* unsuited) {
  const auto me = std::this_thread::get_id();
  const auto mine = [me](const auto& each) { return each->last == me; };
  std::unique_lock lock{idle_mutex_};
  if (unsuited != nullptr)
    idle_.push_back(unsuited);
  if (const auto found = std::ranges::find_if(idle_, mine); found != idle_.end()) {
    auto* const result = *found;
    idle_.erase(found);
    return result;
  }
  if (const auto away = std::ranges::find_if(all_, mine); away != all_.end())
    (*away)->last = std::thread::id{};
  if (idle_.empty()) {
    idle_.reserve(all_.size() + 1); // giving back must not fail
    all_.push_back(std::unique_ptr<lendable>{new lendable{make_outbound(), me}});
    return all_.back().get();
  }
  auto* const result = idle_.front();
  idle_.erase(idle_.begin());
  result->last = me;
  lock.unlock();
  result->out->seal();
  return result;
}

void endpoint_core::give_back(lendable* idle) noexcept {
  lendable* none = nullptr;
  if (at_hand_.compare_exchange_strong(none, idle, std::memory_order_acq_rel))
    return;
  std::lock_guard lock{idle_mutex_};
  idle_.push_back(idle);
}

void endpoint_core::close(std::chrono::nanoseconds timeout) noexcept {
  if (closed_->exchange(true))
    return;
  peering_->close(timeout);
  gateways_.close();
  routes_.close();
  events_.finish();
}

} // namespace pubsub
