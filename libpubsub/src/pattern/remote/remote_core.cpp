#include "pattern/remote/remote_core.hpp"

#include <algorithm>

#include "pattern/remote/tuning.hpp"

namespace pubsub::pattern {

namespace {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

error closed_error() {
  return {errc::shutting_down, "the client of the service is closed"};
}

/// A call that was complete from the beginning.
remote_core::call_ptr refused_call() {
  auto call = std::make_shared<remote_call>();
  call->error = closed_error();
  call->done = true;
  return call;
}

bool is_done(const remote_call& call) {
  return call.done.load(std::memory_order_acquire);
}

} // namespace

expected<std::shared_ptr<remote_core>> remote_core::open(const endpoint& at, std::string_view name,
                                                         const remote_options& options) {
  auto core = std::make_shared<remote_core>(at.share(), name, options);
  if (core->closed())
    return error{errc::shutting_down, "the endpoint is closed"};
  return core;
}

remote_core::remote_core(const std::shared_ptr<endpoint>& at, std::string_view name,
                         const remote_options& options)
    : options_(options), callers_topic_(topic_of_callers(name)), own_topic_(topic_of_caller(id_)),
      hello_(at), instances_(at, topic_of_instance),
      requests_(id_, std::string{name}, options_, *this) {
  auto in = at->make_subscriber(filter{callers_topic_, own_topic_});
  closed_ = in.closed();
  hello_.add(topic_of_service(name));
  start(std::move(in));
}

// -- calls ---------------------------------------------------------------------------------------

mailbox::time remote_core::deadline(std::optional<std::chrono::nanoseconds> timeout,
                                    time now) const {
  constexpr std::chrono::nanoseconds longest = std::chrono::hours{24 * 365};
  return now + std::clamp(timeout.value_or(options_.timeout), 0ns, longest);
}

remote_core::call_ptr remote_core::submit(std::string_view operation,
                                          std::span<const std::byte> argument,
                                          std::optional<std::chrono::nanoseconds> timeout) {
  lock_type lock{mutex_};
  look(lock);
  if (!requests_.has_room()) {
    requests_.send(clock::now(), true);
    wait(lock, {}, [&] { return requests_.has_room(); });
  }
  if (closed_)
    return refused_call();
  const auto now = clock::now();
  auto call = requests_.add(operation, argument, deadline(timeout, now), now);
  requests_.send(now);
  return call;
}

/// All of them are given at once, so that they can go together; they need no room.
std::vector<remote_core::call_ptr> remote_core::submit_all(std::string_view operation,
                                                           argument_share share, grouping how) {
  std::vector<call_ptr> result;
  lock_type lock{mutex_};
  const auto now = clock::now();
  const auto late = deadline({}, now);
  for (std::size_t index = 0; !share.arguments.empty(); ++index) {
    const auto value = data_view::from_valid(share.arguments).bytes();
    share.arguments = share.arguments.subspan(value.size());
    if (index % share.step == share.first)
      result.push_back(closed_ ? refused_call() : requests_.add(operation, value, late, now));
  }
  if (closed_)
    return result;
  if (how == grouping::in_bulk)
    requests_.send_bulk(clock::now());
  else
    requests_.send(clock::now(), true);
  return result;
}

bool remote_core::wait_for(const remote_call& call, time_limit until) {
  if (is_done(call))
    return true;
  lock_type lock{mutex_};
  if (!is_done(call))
    requests_.send(clock::now(), true);
  if (!wait(lock, until, [&] { return is_done(call); }) && closed_)
    requests_.abandon(closed_error());
  return is_done(call);
}

void remote_core::when_done(remote_call& call, std::function<void()> then) {
  lock_type lock{mutex_};
  if (!is_done(call))
    requests_.send(clock::now(), true); // the caller waits for the result
  if (!is_done(call))
    return call.then.push_back(std::move(then));
  lock.unlock();
  then();
}

bool remote_core::cancel(remote_call& call) {
  if (is_done(call))
    return false;
  const lock_type lock{mutex_};
  return requests_.cancel(call, clock::now());
}

void remote_core::send_pending() {
  const lock_type lock{mutex_};
  requests_.send(clock::now(), true);
}

std::size_t remote_core::drain(time_limit until) {
  lock_type lock{mutex_};
  requests_.send(clock::now(), true);
  wait(lock, until, [&] { return requests_.unfinished() == 0; });
  return requests_.unfinished();
}

void remote_core::close() {
  stop();
  const lock_type lock{mutex_};
  requests_.abandon(closed_error());
}

bool remote_core::closed() const {
  const lock_type lock{mutex_};
  return closed_;
}

// -- instances -----------------------------------------------------------------------------------

bool remote_core::wait_for_instances(std::size_t n, time_limit until) {
  lock_type lock{mutex_};
  return wait(lock, until, [&] { return requests_.instances().size().instances >= n; });
}

mailbox::time remote_core::next_tick() const {
  const auto next = std::min(requests_.next_tick(), next_look_);
  return is_known() ? next : std::min(next, hello_.next());
}

void remote_core::take(std::span<data_message> messages, time now) {
  for (const auto& each : messages)
    if (get_topic(each) == callers_topic_ || get_topic(each) == own_topic_) // of no name below
      requests_.receive(each, now, is_prompt());
  if (closed_) // and so is the endpoint
    requests_.abandon(closed_error());
}

void remote_core::tick(time now) {
  if (now >= next_look_) {
    next_look_ = now + tuning::time_between_looks;
    look_for_lost(now);
  }
  if (!is_known() && hello_.is_due(now)) {
    data_writer message;
    write(message, service_hello{id_});
    hello_.announce(message.bytes(), now);
  }
  requests_.tick(now);
}

/// What an instance said before it left may be unread, and must be read before.
void remote_core::look_for_lost(time now) {
  for (const auto& [id, each] : requests_.instances().all())
    (void)instances_[id];
  const auto lost = instances_.find_gone(now);
  if (lost.empty() || anything_unread())
    return;
  for (const auto& each : lost) {
    instances_.erase(each);
    requests_.lose(each, "is not within reach any more", now);
  }
}

} // namespace pubsub::pattern
