#include "endpoint/core.hpp"

#include <algorithm>

namespace pubsub {

endpoint_core::endpoint_core(endpoint_options options)
    : options_(std::move(options)), id_(options_.id ? *options_.id : endpoint_id::random()),
      routes_(id_, options_.forward_topics, options_.forwarding == forwarding::on),
      peering_(std::make_shared<peering>(id_, options_, routes_, events_, counts_)) {}

endpoint_core::~endpoint_core() {
  close();
}

std::unique_ptr<outbound> endpoint_core::make_outbound() {
  return std::make_unique<outbound>(id_, routes_, options_.own_messages == own_messages::deliver,
                                    options_.max_frame_bytes, counts_.make());
}

/// The one this thread had last, so that its messages stay in order without ending its run; else
/// any, whose run is ended.
std::unique_ptr<outbound> endpoint_core::borrow() {
  std::unique_lock lock{idle_mutex_};
  if (idle_.empty()) {
    lock.unlock();
    return make_outbound();
  }
  const auto me = std::this_thread::get_id();
  auto chosen =
      std::ranges::find_if(idle_, [&](const idle_outbound& each) { return each.last == me; });
  const bool mine = chosen != idle_.end();
  if (!mine)
    chosen = std::prev(idle_.end());
  auto result = std::move(chosen->out);
  idle_.erase(chosen);
  lock.unlock();
  if (!mine)
    result->seal();
  return result;
}

void endpoint_core::give_back(std::unique_ptr<outbound> idle) {
  std::lock_guard lock{idle_mutex_};
  idle_.push_back({std::this_thread::get_id(), std::move(idle)});
}

void endpoint_core::close(std::chrono::milliseconds timeout) noexcept {
  if (closed_.exchange(true))
    return;
  peering_->close(timeout);
  routes_.close();
  events_.finish();
}

} // namespace pubsub
