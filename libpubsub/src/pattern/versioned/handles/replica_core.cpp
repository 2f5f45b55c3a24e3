#include "pattern/versioned/handles/replica_core.hpp"

#include <algorithm>

#include "pattern/mailbox/tuning.hpp"

namespace pubsub::pattern {

using clock = std::chrono::steady_clock;

expected<std::shared_ptr<replica_core>>
replica_core::open(const endpoint& at, std::string_view name, const replica_options& options) {
  if (options.group_size == 0)
    return error{errc::invalid_argument, "group_size is at least 1"};
  if (options.liveness_timeout < tuning::shortest_liveness_timeout)
    return error{errc::invalid_argument, "liveness_timeout is at least 50 ms"};
  const auto id = endpoint_id::random();
  std::array topics{topic_of_replicas(name), topic_of_status(name), topic_of_replica(id)};
  const auto shared = at.share();
  auto in = shared->make_subscriber(filter{topics[0], topics[1], topics[2]});
  if (in.closed())
    return error{errc::shutting_down, "the endpoint is closed"};
  return std::make_shared<replica_core>(shared, std::move(in), std::move(topics), name, options,
                                        id);
}

replica_core::replica_core(const std::shared_ptr<endpoint>& at, subscriber in,
                           std::array<std::string, 3> topics, std::string_view name,
                           const replica_options& options, const endpoint_id& id)
    : options_(options), name_(options.id.empty() ? to_string(id) : options.id),
      topics_(std::move(topics)), links_(at, name, without_subscribers::is_sent),
      replica_(id, name_, options_, links_, clock::now()) {
  start(std::move(in));
}

std::vector<versioned_message> replica_core::get(std::size_t max,
                                                 std::optional<std::chrono::nanoseconds> timeout) {
  const auto until = limit_after(timeout);
  std::vector<versioned_message> result;
  lock_type lock{mutex_};
  look(lock);
  while (wait(lock, until, [&] { return has_work(); })) {
    look_after_state(lock);
    if (!closed_ && replica_.take(result, max) > 0)
      break;
  }
  return result;
}

/// Called with the mutex held, which is released meanwhile, by a thread that gets messages: it has
/// done with what was handed out before.
void replica_core::look_after_state(lock_type& lock) {
  const auto restore = replica_.take_restore();
  const bool snapshot = replica_.needs_snapshot();
  if (!restore && !snapshot)
    return;
  in_state_call_ = true;
  data state;
  lock.unlock();
  try {
    if (restore)
      options_.restore(data_view::from_valid(restore->first.state.bytes), restore->first.at);
    if (snapshot)
      state = options_.snapshot();
  } catch (...) {
    lock.lock();
    in_state_call_ = false;
    throw;
  }
  lock.lock();
  in_state_call_ = false;
  if (!snapshot)
    return;
  data_writer encoded;
  encoded.write(state);
  replica_.give_snapshot(encoded.bytes());
}

void replica_core::take(std::span<data_message> messages, time now) {
  for (const auto& each : messages) {
    if (std::ranges::find(topics_, get_topic(each)) != topics_.end())
      replica_.receive(each, now);
  }
  if (!messages.empty())
    replica_.settle(now);
  if (replica_.failure())
    end();
}

void replica_core::tick(time now) {
  if (now >= next_look_) {
    next_look_ = now + tuning::time_between_looks;
    for (const auto& each : links_.find_lost(replica_.others(), now))
      replica_.lose(each);
  }
  if (!has_room())
    replica_.excuse_silence(now);
  replica_.tick(now);
  if (replica_.failure())
    end();
}

bool replica_core::has_room() const {
  return replica_.available() < tuning::most_waiting &&
         replica_.waiting_bytes() < tuning::most_waiting_bytes;
}

replica_state replica_core::state() const {
  const lock_type lock{mutex_};
  return closed_ ? replica_state::closed : replica_.state();
}

} // namespace pubsub::pattern
