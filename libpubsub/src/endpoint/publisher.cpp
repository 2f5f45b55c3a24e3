#include <pubsub/publisher.hpp>

#include "endpoint/core.hpp"

namespace pubsub {

publisher::publisher(std::unique_ptr<publisher_core> core) : core_(std::move(core)) {}
publisher::publisher(publisher&&) noexcept = default;
publisher& publisher::operator=(publisher&&) noexcept = default;
publisher::~publisher() = default;

const std::string& publisher::topic() const noexcept {
  return core_->topic;
}

publish_result publisher::publish(publishable what) {
  return core_->publish(std::move(what), {});
}
publish_result publisher::publish_for(publishable what, std::chrono::nanoseconds timeout) {
  return core_->publish(std::move(what), deadline_after(timeout));
}
publish_result publisher::try_publish(publishable what) {
  return core_->publish(std::move(what), immediately());
}

publisher_counters publisher::counters() const {
  return core_->out->counters();
}

std::size_t publisher::subscribers() const {
  return core_->owner->routes().count(core_->topic);
}

bool publisher::wait_for_subscribers(std::size_t n, std::chrono::nanoseconds timeout) const {
  return core_->owner->routes().wait_for(core_->topic, n, timeout);
}

} // namespace pubsub
