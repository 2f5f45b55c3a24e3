#include <pubsub/subscriber.hpp>

#include "endpoint/subscriber_core.hpp"

namespace pubsub {

/// The queue's consumer is this subscriber, which keeps `owner` alive; its producers are
/// publishers, which do so, too, and I/O threads, which end before the routes. A queue that has
/// overflowed leaves the routes, so that it costs publishers nothing any more.
std::shared_ptr<message_queue> subscriber_core::make_queue(endpoint_core& owner,
                                                           const queue_options& options,
                                                           const shared_id& id) {
  message_queue::callbacks calls;
  calls.loop = owner.peers().loop_to_share();
  calls.on_overflow = [&routes = owner.routes(), id] { routes.remove_subscriber(*id); };
  return std::make_shared<message_queue>(options, std::move(calls));
}

subscriber_core::subscriber_core(std::shared_ptr<endpoint_core> owner, const pubsub::filter& topics,
                                 const queue_options& options)
    : owner_(std::move(owner)), options_(options), queue_(make_queue(*owner_, options, id_)) {
  owner_->follow(queue_);
  *id_ = owner_->routes().add_subscriber(queue_, topics);
  if (queue_->finished())
    owner_->routes().remove_subscriber(*id_);
  owner_->subscribers().add(this);
}

std::optional<data_message> subscriber_core::get(const deadline& until) {
  if (discarded_.load(std::memory_order_acquire))
    return {};
  if (next_ == taken_.size()) {
    taken_.clear();
    next_ = 0;
    if (queue_->pull_ahead(taken_, polled_ ? 1 : batch_messages, until) == 0)
      return {};
  }
  auto result = std::move(taken_[next_++]);
  queue_->set_ahead(taken_.size() - next_);
  return result;
}

std::size_t subscriber_core::get_batch(std::vector<data_message>& out, std::size_t max,
                                       const deadline& until) {
  if (discarded_.load(std::memory_order_acquire))
    return 0;
  if (next_ == taken_.size())
    return queue_->pull(out, max, until);
  const auto n = std::min(max, taken_.size() - next_);
  for (std::size_t i = 0; i < n; ++i)
    out.push_back(std::move(taken_[next_++]));
  queue_->set_ahead(taken_.size() - next_);
  return n;
}

int subscriber_core::fd() {
  polled_ = true;
  return queue_->fd(next_ < taken_.size());
}

std::size_t subscriber_core::available() const {
  if (discarded_.load(std::memory_order_acquire))
    return 0;
  return queue_->ahead() + queue_->size();
}

subscriber_counters subscriber_core::counters() const {
  return queue_->counters();
}

/// What was published while a topic was not wanted is not missing.
void subscriber_core::add_topic(std::string_view prefix) {
  queue_->forget_streams();
  owner_->routes().add_topic(*id_, prefix);
}

void subscriber_core::remove_topic(std::string_view prefix) {
  owner_->routes().remove_topic(*id_, prefix);
  queue_->forget_streams();
}

bool subscriber_core::wait_ready(const deadline& until) {
  return owner_->routes().wait_until_known(until) &&
         owner_->peers().wait_until_read_by_broker_peers(until) && !closed();
}

void subscriber_core::close() {
  owner_->subscribers().remove(this);
  owner_->routes().remove_subscriber(*id_);
  discarded_.store(true, std::memory_order_release);
  queue_->discard();
}

// -- the public handle -------------------------------------------------------------------------

subscriber::subscriber(std::shared_ptr<subscriber_core> core) : core_(std::move(core)) {}
subscriber::subscriber(subscriber&&) noexcept = default;
subscriber& subscriber::operator=(subscriber&&) noexcept = default;
subscriber::~subscriber() {
  if (core_)
    core_->close();
}

data_message subscriber::get() {
  return core_->get({}).value_or(data_message{});
}

std::optional<data_message> subscriber::get(std::chrono::nanoseconds timeout) {
  return core_->get(deadline_after(timeout));
}

std::vector<data_message> subscriber::get_batch(std::size_t max) {
  std::vector<data_message> result;
  core_->get_batch(result, max, {});
  return result;
}

std::vector<data_message> subscriber::get_batch(std::size_t max, std::chrono::nanoseconds timeout) {
  std::vector<data_message> result;
  core_->get_batch(result, max, deadline_after(timeout));
  return result;
}

std::size_t subscriber::get_batch(std::vector<data_message>& out, std::size_t max,
                                  std::chrono::nanoseconds timeout) {
  return core_->get_batch(out, max, deadline_after(timeout));
}

std::vector<data_message> subscriber::poll() {
  std::vector<data_message> result;
  while (core_->get_batch(result, core_->available(), deadline_after(std::chrono::nanoseconds{0})) >
         0) {
  }
  return result;
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
  return core_->wait_ready(deadline_after(timeout));
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
