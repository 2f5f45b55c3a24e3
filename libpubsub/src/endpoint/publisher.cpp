#include <pubsub/publisher.hpp>

#include "endpoint/publisher_core.hpp"

namespace pubsub {

namespace {

deadline no_waiting() {
  return std::chrono::steady_clock::time_point::min();
}

} // namespace

publisher::publisher(std::unique_ptr<publisher_core> core) : core_(std::move(core)) {}
publisher::publisher(publisher&&) noexcept = default;
publisher& publisher::operator=(publisher&&) noexcept = default;
publisher::~publisher() = default;

const std::string& publisher::topic() const noexcept {
  return core_->topic;
}

publish_result publisher::publish(data value) {
  return core_->with_outbound(
      [&](outbound& out) { return out.publish(core_->topic, std::move(value)); });
}

publish_result publisher::publish_encoded(std::span<const std::byte> value) {
  return core_->with_outbound(
      [&](outbound& out) { return out.publish_encoded(core_->topic, value); });
}

publish_result publisher::publish(const data_message& msg) {
  return core_->with_outbound([&](outbound& out) { return out.publish(msg); });
}

publish_result publisher::publish(data value, std::chrono::nanoseconds timeout) {
  return core_->with_outbound([&](outbound& out) {
    return out.publish(core_->topic, std::move(value), deadline_after(timeout));
  });
}

publish_result publisher::publish_encoded(std::span<const std::byte> value,
                                          std::chrono::nanoseconds timeout) {
  return core_->with_outbound([&](outbound& out) {
    return out.publish_encoded(core_->topic, value, deadline_after(timeout));
  });
}

publish_result publisher::publish(const data_message& msg, std::chrono::nanoseconds timeout) {
  return core_->with_outbound(
      [&](outbound& out) { return out.publish(msg, deadline_after(timeout)); });
}

publish_result publisher::try_publish(const data_message& msg) {
  return core_->with_outbound([&](outbound& out) { return out.publish(msg, no_waiting()); });
}

publish_result publisher::try_publish(data value) {
  return core_->with_outbound(
      [&](outbound& out) { return out.publish(core_->topic, std::move(value), no_waiting()); });
}

publish_result publisher::try_publish_encoded(std::span<const std::byte> value) {
  return core_->with_outbound(
      [&](outbound& out) { return out.publish_encoded(core_->topic, value, no_waiting()); });
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
