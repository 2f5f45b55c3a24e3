#include "pattern/versioned/replica_core.hpp"

namespace pubsub::pattern {

namespace {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

constexpr auto shortest_silence = 50ms;
constexpr std::size_t most_waiting = 200'000; // to be handed out: then nothing is read
constexpr std::size_t most_waiting_bytes = std::size_t{512} << 20;

error check(const replica_options& options) {
  if (options.group_size == 0)
    return {errc::invalid_argument, "a group has one replica at least"};
  if (options.silence < shortest_silence)
    return {errc::invalid_argument, "silence is 50 ms at least"};
  return {};
}

} // namespace

replica_core::replica_core(endpoint& at, std::string_view name, const replica_options& options)
    : replica_core(at, name, options, endpoint_id::random()) {}

replica_core::replica_core(endpoint& at, std::string_view name, const replica_options& options,
                           const endpoint_id& id)
    : turn_reader(at.make_subscriber(
          filter{topic_of_replicas(name), topic_of_status(name), topic_of_replica(id)})),
      options_(options), id_(id), name_(options.id.empty() ? to_string(id_) : options.id),
      replicas_topic_(topic_of_replicas(name)), status_topic_(topic_of_status(name)),
      own_topic_(topic_of_replica(id_)), ways_(at, name, unwanted::is_sent),
      books_(id_, name_, options_, ways_, clock::now()), failure_(check(options)) {
  closed_ = static_cast<bool>(failure_);
  if (!closed_)
    start();
}

std::vector<versioned_message> replica_core::get(std::size_t max,
                                                 std::optional<std::chrono::nanoseconds> timeout) {
  const auto until = limit_after(timeout);
  std::vector<versioned_message> result;
  lock_type lock{mutex_};
  look(lock);
  while (wait(lock, until, [&] { return has_work(); })) {
    look_after_state(lock);
    if (!closed_ && books_.take(result, max) > 0)
      break;
  }
  return result;
}

/// Called with the mutex held by whoever gets messages, which is released meanwhile: what was
/// handed out before is done.
void replica_core::look_after_state(lock_type& lock) {
  const auto restore = books_.take_restore();
  const bool snapshot = books_.wants_snapshot();
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
  books_.give_snapshot(encoded.bytes(), clock::now());
}

void replica_core::take(const std::vector<data_message>& messages, time now) {
  for (const auto& each : messages) {
    const auto topic = get_topic(each);
    if (topic == replicas_topic_ || topic == own_topic_ || topic == status_topic_)
      books_.receive(each, now);
  }
  if (!messages.empty())
    books_.settle(now);
  if (books_.failure())
    close_by_itself();
}

void replica_core::tick(time now) {
  if (now >= next_look_) {
    next_look_ = now + time_between_looks;
    for (const auto& each : ways_.find_lost(books_.others()))
      books_.lose(each);
  }
  if (!has_room())
    books_.excuse_silence(now);
  books_.tick(now);
  if (books_.failure())
    close_by_itself();
}

bool replica_core::has_room() const {
  return books_.available() < most_waiting && books_.waiting_bytes() < most_waiting_bytes;
}

bool replica_core::wait_until_counting(std::chrono::nanoseconds timeout) {
  lock_type lock{mutex_};
  return wait(lock, limit_after(timeout),
              [&] { return books_.state() == replica_state::counting; });
}

replica_state replica_core::state() const {
  lock_type lock{mutex_};
  return closed_ ? replica_state::closed : books_.state();
}

} // namespace pubsub::pattern
