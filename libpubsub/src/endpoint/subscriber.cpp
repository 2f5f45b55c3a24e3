// SPDX-License-Identifier: BSD-3-Clause
#include <pubsub/subscriber.hpp>

#include "endpoint/core.hpp"
#include "filter/subscription_text.hpp"

namespace pubsub {

/// The queue's consumer is this subscriber, which keeps `owner` alive; its producers are
/// publishers, which do so, too, and I/O threads, which end before the routes. A queue that has
/// overflowed leaves the routes, so that it costs publishers nothing any more.
subscriber_core::subscriber_core(std::shared_ptr<endpoint_core> owner, const pubsub::filter& topics,
                                 const queue_options& options, std::optional<condition> where)
    : owner_(std::move(owner)), options_(options), where_(std::move(where)),
      told_(where_ ? told_form(*where_) : std::string{}),
      queue_(std::make_shared<message_queue>(
          options, message_queue::callbacks{
                       .loop = owner_->peers().loop_to_share(),
                       .on_overflow = [&routes = owner_->routes(),
                                       id = id_] { routes.remove_subscriber(*id); },
                       .selector = where_ ? std::make_unique<message_selector>(*where_) : nullptr,
                       .others_select = !told_.empty()})) {
  owner_->counts().follow(queue_);
  *id_ = owner_->routes().add_subscriber(queue_, topics, told_);
  if (queue_->finished())
    owner_->routes().remove_subscriber(*id_);
  owner_->subscribers().add(this);
  if (!check(options))
    close();
}

received<data_message> subscriber_core::get(const deadline& until) {
  if (discarded_.load(std::memory_order_acquire))
    return receive_status::closed;
  if (next_ == taken_.size()) {
    taken_.clear();
    next_ = 0;
    if (queue_->pull_ahead(taken_, polled_ ? 1 : batch_messages, until) == 0)
      return why_nothing();
  }
  auto result = std::move(taken_[next_++]);
  queue_->set_ahead(taken_.size() - next_);
  return result;
}

receive_status subscriber_core::get_batch(std::vector<data_message>& out, std::size_t max,
                                          const deadline& until) {
  if (discarded_.load(std::memory_order_acquire))
    return receive_status::closed;
  if (next_ == taken_.size())
    return queue_->pull(out, max, until) > 0 ? receive_status::received : why_nothing();
  const auto n = std::min(max, taken_.size() - next_);
  for (std::size_t i = 0; i < n; ++i)
    out.push_back(std::move(taken_[next_++]));
  queue_->set_ahead(taken_.size() - next_);
  if (n < max)
    queue_->pull(out, max - n, immediately());
  return receive_status::received;
}

received<std::vector<data_message>> subscriber_core::get_batch(std::size_t max,
                                                               const deadline& until) {
  std::vector<data_message> result;
  const auto status = get_batch(result, max, until);
  if (status != receive_status::received)
    return status;
  return result;
}

/// A queue that was full, and has ended by that, is found when it would be ready; so is an endpoint
/// that closes, and whose peers are gone.
std::unique_ptr<readiness_core> subscriber_core::begin_ready() {
  const auto known = std::make_shared<ready_state>(
      [queue = queue_, closed = owner_->closed_flag()] { return *closed || queue->finished(); });
  {
    std::lock_guard lock{readiness_mutex_};
    std::erase_if(readiness_, [](const auto& each) { return each.expired(); });
    readiness_.push_back(known);
  }
  if (closed())
    known->close();
  auto asked = owner_->peers().ask_broker_peers(known);
  owner_->routes().when_known(known);
  return std::make_unique<readiness_core>(known, std::move(asked));
}

void subscriber_core::close() {
  owner_->subscribers().remove(this);
  owner_->routes().remove_subscriber(*id_);
  discarded_.store(true, std::memory_order_release);
  queue_->discard();
  std::lock_guard lock{readiness_mutex_};
  for (const auto& each : readiness_)
    if (const auto known = each.lock())
      known->close();
}

// -- the public handle -------------------------------------------------------------------------

subscriber::subscriber(std::shared_ptr<subscriber_core> core) : core_(std::move(core)) {}
subscriber::subscriber(subscriber&&) noexcept = default;
subscriber& subscriber::operator=(subscriber&&) noexcept = default;
subscriber::~subscriber() {
  if (core_)
    core_->close();
}

received<data_message> subscriber::get() {
  return core_->get({});
}
received<data_message> subscriber::get_for(std::chrono::nanoseconds timeout) {
  return core_->get(deadline_after(timeout));
}
received<data_message> subscriber::try_get() {
  return core_->get(immediately());
}

received<std::vector<data_message>> subscriber::get_batch(std::size_t max) {
  return core_->get_batch(max, {});
}
received<std::vector<data_message>> subscriber::get_batch_for(std::size_t max,
                                                              std::chrono::nanoseconds timeout) {
  return core_->get_batch(max, deadline_after(timeout));
}
receive_status subscriber::get_batch_for(std::vector<data_message>& out, std::size_t max,
                                         std::chrono::nanoseconds timeout) {
  return core_->get_batch(out, max, deadline_after(timeout));
}
received<std::vector<data_message>> subscriber::try_get_batch(std::size_t max) {
  return core_->get_batch(max, immediately());
}

int subscriber::fd() const {
  return core_->fd();
}
std::size_t subscriber::available() const {
  return core_->available();
}
void subscriber::add_topic(std::string_view prefix) {
  core_->add_topic(prefix);
}
void subscriber::remove_topic(std::string_view prefix) {
  core_->remove_topic(prefix);
}
pubsub::filter subscriber::filter() const {
  return core_->topics();
}
bool subscriber::wait_ready(std::chrono::nanoseconds timeout) {
  return begin_ready().wait_for(timeout);
}
readiness subscriber::begin_ready() {
  return readiness{core_->begin_ready()};
}
subscriber_counters subscriber::counters() const {
  return core_->counters();
}
bool subscriber::closed() const {
  return core_->closed();
}
void subscriber::close() {
  core_->close();
}

} // namespace pubsub
