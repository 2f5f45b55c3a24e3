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

} // namespace

endpoint_core::endpoint_core(endpoint_options options)
    : fault_(check(options)), options_(with_name(fault_ ? std::move(options) : endpoint_options{})),
      id_(options_.id ? *options_.id : endpoint_id::random()),
      routes_(id_, options_.forward_topics, starts_as_relay(options_), options_.name),
      peering_(std::make_shared<peering>(id_, options_, routes_, events_, counts_)) {
  routes_.report_later_by([weak = std::weak_ptr{peering_}](auto delay) {
    if (const auto self = weak.lock())
      self->report_later(delay);
  });
  if (!fault_)
    close();
}

expected<void> endpoint_core::connect(std::string_view uri, const peer_options& options,
                                      bool wait) {
  if (!fault_)
    return fault_;
  if (auto ok = check(options); !ok)
    return ok;
  return peering_->connect(uri, options, wait);
}

/// Once all nodes avoid this one, what they have sent before is on the links to it. But a thread
/// that has found its route already may still wait for room in a queue, or for a processor: so the
/// links have to be read without anything to pass on for a while.
bool endpoint_core::retire(const deadline& until) {
  const bool avoided = routes_.retire(until);
  bool in_time = peering_->part_from_clients(until) && avoided;
  for (auto before = ~std::uint64_t{0}; in_time && !closed();) {
    in_time = peering_->wait_until_all_is_read(until);
    if (before == std::exchange(before, counters().forwarded))
      break;
    std::this_thread::sleep_for(time_to_send);
  }
  return in_time && !closed();
}

std::unique_ptr<outbound> endpoint_core::make_outbound() {
  return std::make_unique<outbound>(id_, routes_, options_.own_messages == own_messages::deliver,
                                    options_.max_frame_bytes, counts_.make());
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
  if (closed_.exchange(true))
    return;
  peering_->close(timeout);
  routes_.close();
  events_.finish();
}

} // namespace pubsub
