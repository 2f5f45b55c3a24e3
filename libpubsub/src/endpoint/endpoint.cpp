// SPDX-License-Identifier: BSD-3-Clause
#include <pubsub/endpoint.hpp>

#include "endpoint/core.hpp"

namespace pubsub {

std::string_view to_string(peer_state x) noexcept {
  switch (x) {
  case peer_state::connecting:
    return "connecting";
  case peer_state::peered:
    return "peered";
  case peer_state::lost:
    return "lost";
  }
  return "unknown";
}

gateway::~gateway() = default;

endpoint::endpoint() : endpoint(endpoint_options{}) {}
endpoint::endpoint(endpoint_options options)
    : core_(std::make_shared<endpoint_core>(std::move(options))) {
  core_->begin_telling();
}
endpoint::endpoint(endpoint&&) noexcept = default;
endpoint& endpoint::operator=(endpoint&& other) noexcept {
  endpoint{std::move(other)}.core_.swap(core_);
  return *this;
}
endpoint::~endpoint() {
  if (core_)
    core_->close();
}

const endpoint_id& endpoint::id() const noexcept {
  return core_->id();
}
const std::string& endpoint::name() const noexcept {
  return core_->name();
}

// -- peering -------------------------------------------------------------------------------------

expected<std::uint16_t> endpoint::listen(std::string_view uri) {
  return core_->fault() ? core_->peers().listen(uri) : core_->fault().error();
}
expected<void> endpoint::peer(std::string_view uri, const peer_options& options) {
  return core_->connect(*this, uri, options, true);
}
expected<void> endpoint::peer_async(std::string_view uri, const peer_options& options) {
  return core_->connect(*this, uri, options, false);
}
expected<void> endpoint::unpeer(const endpoint_id& id, std::chrono::nanoseconds timeout) {
  return core_->disconnect(id, timeout);
}
expected<void> endpoint::unpeer(std::string_view uri, std::chrono::nanoseconds timeout) {
  return core_->disconnect(uri, timeout);
}
std::vector<peer_info> endpoint::peers() const {
  return core_->known_peers();
}
std::vector<gateway_info> endpoint::gateways() const {
  return core_->gateways().look();
}
std::vector<node_info> endpoint::nodes() const {
  return core_->routes().nodes();
}
bool endpoint::wait_for_peers(std::size_t n, std::chrono::nanoseconds timeout) const {
  return core_->peers().wait_for_peers(n, timeout);
}
bool endpoint::wait_for_peer(const endpoint_id& id, std::chrono::nanoseconds timeout) const {
  return core_->peers().wait_for_peer(id, timeout);
}

// -- publishing ----------------------------------------------------------------------------------

publish_result endpoint::publish(std::string_view topic, publishable what) {
  return core_->publish(topic, std::move(what), {});
}
publish_result endpoint::publish_for(std::string_view topic, publishable what,
                                     std::chrono::nanoseconds timeout) {
  return core_->publish(topic, std::move(what), deadline_after(timeout));
}
publish_result endpoint::try_publish(std::string_view topic, publishable what) {
  return core_->publish(topic, std::move(what), immediately());
}
publish_result endpoint::publish_to(const endpoint_id& receiver, std::string_view topic,
                                    publishable what) {
  return core_->with_outbound(
      [&](outbound& out) { return out.publish_to(receiver, topic, what, {}); });
}
publish_result endpoint::publish_to_for(const endpoint_id& receiver, std::string_view topic,
                                        publishable what, std::chrono::nanoseconds timeout) {
  return core_->with_outbound([&](outbound& out) {
    return out.publish_to(receiver, topic, what, deadline_after(timeout));
  });
}
publisher endpoint::make_publisher(std::string_view topic) {
  return publisher{std::unique_ptr<publisher_core>{
      new publisher_core{core_, std::string{topic}, core_->make_outbound()}}};
}
bridge_publisher endpoint::make_bridge_publisher(const subscriber& except) {
  const auto& queue = except.core_->queue();
  return bridge_publisher{std::unique_ptr<bridge_publisher_core>{
      new bridge_publisher_core{core_, queue, core_->make_outbound(queue.get())}}};
}
std::size_t endpoint::subscribers(std::string_view topic) const {
  return core_->routes().count(topic);
}
bool endpoint::wait_for_subscribers(std::string_view topic, std::size_t n,
                                    std::chrono::nanoseconds timeout) const {
  return core_->routes().wait_for(topic, n, timeout);
}

// -- subscribing ---------------------------------------------------------------------------------

subscriber endpoint::make_subscriber(pubsub::filter topics, const queue_options& options) {
  return subscriber{std::make_shared<subscriber_core>(core_, topics, options)};
}
subscriber endpoint::make_subscriber(pubsub::filter topics, const condition& where,
                                     const queue_options& options) {
  return subscriber{std::make_shared<subscriber_core>(core_, topics, options, where)};
}
status_subscriber endpoint::make_status_subscriber(status_events which) {
  return status_subscriber{core_->events().subscribe(which)};
}
network_subscriber endpoint::make_network_subscriber() {
  return network_subscriber{std::make_unique<network_reader>(core_)};
}
pubsub::filter endpoint::filter() const {
  return core_->routes().announcement_for({});
}
expected<void> endpoint::set_access(std::optional<access_rules> rules) {
  if (auto ok = rules ? check(*rules) : expected<void>{}; !ok)
    return ok;
  core_->peers().set_access(std::move(rules));
  return {};
}
void endpoint::set_screen(std::shared_ptr<const message_screen> screen) {
  core_->routes().set_screen(std::move(screen));
}
expected<void> endpoint::set_tls(const tls_options& options) {
  return core_->peers().set_tls(options);
}
std::optional<std::chrono::sys_seconds> endpoint::certificate_expiry() const {
  return core_->peers().certificate_expiry();
}
endpoint_counters endpoint::counters() const {
  return core_->counters();
}
std::string endpoint::status_text(std::size_t max_bytes) const {
  return core_->status_text(max_bytes);
}
std::string endpoint::metrics_text() const {
  return core_->metrics_text();
}
bool endpoint::retire(std::chrono::nanoseconds timeout) {
  return core_->retire(deadline_after(timeout));
}
std::string endpoint::network_text(std::size_t max_bytes) const {
  return core_->network_text(max_bytes);
}
expected<std::string> endpoint::status_of(const endpoint_id& node, std::chrono::nanoseconds timeout,
                                          std::size_t max_bytes) const {
  return core_->ask_about(node, wire::inquiry_subject::status, timeout, max_bytes);
}
expected<std::string> endpoint::network_of(const endpoint_id& node,
                                           std::chrono::nanoseconds timeout,
                                           std::size_t max_bytes) const {
  return core_->ask_about(node, wire::inquiry_subject::network, timeout, max_bytes);
}
expected<std::vector<trace_hop>> endpoint::trace(std::string_view topic,
                                                 std::chrono::nanoseconds timeout) const {
  return core_->trace(topic, timeout);
}

// -- life cycle ----------------------------------------------------------------------------------

std::size_t endpoint::flush(std::chrono::nanoseconds timeout) {
  const auto until = std::chrono::steady_clock::now() + timeout;
  std::size_t left = 0;
  for (const auto& each : core_->peers().links())
    left += each->wait_until_empty(until);
  return left;
}
std::size_t endpoint::drain(std::chrono::nanoseconds timeout) {
  return core_->drain(timeout);
}
void endpoint::close(std::chrono::nanoseconds timeout) {
  core_->close(timeout);
}
void endpoint::close() {
  core_->close();
}
endpoint::endpoint(std::shared_ptr<endpoint_core> core) : core_(std::move(core)) {}
std::shared_ptr<endpoint> endpoint::share() const {
  return {new endpoint{core_}, [](endpoint* shared) {
            shared->core_.reset(); // else it would be closed
            delete shared;
          }};
}

// -- publisher -----------------------------------------------------------------------------------

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

void publisher::leave_writing(bool on) noexcept {
  core_->leaves_writing = on;
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

// -- bridge_publisher ----------------------------------------------------------------------------

bridge_publisher::bridge_publisher(std::unique_ptr<bridge_publisher_core> core)
    : core_(std::move(core)) {}
bridge_publisher::bridge_publisher(bridge_publisher&&) noexcept = default;
bridge_publisher& bridge_publisher::operator=(bridge_publisher&&) noexcept = default;
bridge_publisher::~bridge_publisher() = default;

publish_result bridge_publisher::publish(std::string_view topic, publishable what) {
  return core_->publish(topic, std::move(what), {});
}
publish_result bridge_publisher::publish_for(std::string_view topic, publishable what,
                                             std::chrono::nanoseconds timeout) {
  return core_->publish(topic, std::move(what), deadline_after(timeout));
}
publish_result bridge_publisher::try_publish(std::string_view topic, publishable what) {
  return core_->publish(topic, std::move(what), immediately());
}

publisher_counters bridge_publisher::counters() const {
  return core_->out->counters();
}

} // namespace pubsub
