#include "pattern/remote/remote_core.hpp"

#include <algorithm>
#include <iterator>

#include "pattern/remote/tuning.hpp"

namespace pubsub::pattern {

namespace {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

constexpr std::chrono::nanoseconds longest_timeout = std::chrono::hours{24 * 365};

error check(const remote_options& options) {
  if (std::ranges::find(all_remote_modes, options.mode) == std::end(all_remote_modes))
    return {errc::invalid_argument, "there is no mode of remote execution with the number " +
                                        std::to_string(static_cast<unsigned>(options.mode))};
  if (options.parallel == 0 || options.window_operations == 0 || options.bulk_operations == 0 ||
      options.max_unfinished == 0)
    return {errc::invalid_argument,
            "parallel, window_operations, bulk_operations and max_unfinished are at least 1"};
  if (options.timeout <= 0ms || options.silence <= 0ms)
    return {errc::invalid_argument, "timeout and silence are at least 1 ms"};
  return {};
}

} // namespace

remote_core::remote_core(std::shared_ptr<endpoint> at, std::string_view name,
                         const remote_options& options)
    : options_(options), callers_topic_(topic_of_callers(name)), own_topic_(topic_of_caller(id_)),
      hello_(at), instances_(at, topic_of_instance),
      requests_(id_, std::string{name}, options_, *this), failure_(check(options)) {
  closed_ = static_cast<bool>(failure_);
  if (closed_)
    return;
  auto in = at->make_subscriber(filter{callers_topic_, own_topic_});
  hello_.add(topic_of_service(name));
  say_hello(clock::now());
  start(std::move(in));
}

// -- calls ---------------------------------------------------------------------------------------

/// Called with the mutex held: a call that nobody takes.
remote_core::call_ptr remote_core::refused() const {
  auto call = std::make_shared<remote_call>();
  call->error =
      failure_ ? failure_ : error{errc::shutting_down, "the client of the service is closed"};
  call->done = true;
  return call;
}

mailbox::time remote_core::deadline(std::optional<std::chrono::nanoseconds> timeout,
                                    time now) const {
  return now + std::clamp<std::chrono::nanoseconds>(timeout.value_or(options_.timeout), 0ns,
                                                    longest_timeout);
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
    return refused();
  const auto now = clock::now();
  auto call = requests_.add(operation, argument, deadline(timeout, now), now);
  requests_.send(now);
  return call;
}

/// All of them are given at once, so that they can go together; they need no room.
std::vector<remote_core::call_ptr> remote_core::submit_all(std::string_view operation,
                                                           std::span<const std::byte> arguments,
                                                           bool in_bulk) {
  std::vector<call_ptr> result;
  lock_type lock{mutex_};
  const auto now = clock::now();
  while (!arguments.empty()) {
    const auto value = data_view::from_valid(arguments).bytes();
    arguments = arguments.subspan(value.size());
    result.push_back(closed_ ? refused() : requests_.add(operation, value, deadline({}, now), now));
  }
  if (closed_)
    return result;
  if (in_bulk)
    requests_.send_bulk(clock::now());
  else
    requests_.send(clock::now(), true);
  if (result.size() >= tuning::enough_to_measure)
    requests_.note_calls(result.size(), clock::now() - now, false);
  return result;
}

bool remote_core::wait_for(const remote_call& call, time_limit until) {
  const auto done = [&] { return call.done.load(std::memory_order_acquire); };
  if (done())
    return true;
  lock_type lock{mutex_};
  if (!closed_ && !done())
    requests_.send(clock::now(), true);
  if (!wait(lock, until, done) && closed_)
    requests_.abandon(refused()->error);
  return done();
}

void remote_core::when_done(remote_call& call, std::function<void()> then) {
  lock_type lock{mutex_};
  if (!closed_ && !call.done.load(std::memory_order_acquire))
    requests_.send(clock::now(), true); // a caller waits for the result
  if (!call.done.load(std::memory_order_acquire)) {
    call.then.push_back(std::move(then));
    return;
  }
  lock.unlock();
  then();
}

bool remote_core::cancel(remote_call& call) {
  if (call.done.load(std::memory_order_acquire))
    return false;
  lock_type lock{mutex_};
  return requests_.cancel(call, clock::now());
}

void remote_core::flush() {
  lock_type lock{mutex_};
  if (!closed_)
    requests_.send(clock::now(), true);
}

std::size_t remote_core::drain(std::chrono::nanoseconds timeout) {
  lock_type lock{mutex_};
  if (!closed_)
    requests_.send(clock::now(), true);
  wait(lock, limit_after(timeout), [&] { return requests_.unfinished() == 0; });
  return requests_.unfinished();
}

void remote_core::close() {
  stop();
  lock_type lock{mutex_};
  requests_.abandon(refused()->error);
}

// -- instances -----------------------------------------------------------------------------------

remote_port::outcome remote_core::to_instance(const endpoint_id& id,
                                              std::span<const std::byte> message) {
  switch (instances_[id].send(message)) {
  case partner::outcome::sent:
    return outcome::sent;
  case partner::outcome::too_long:
    return outcome::too_long;
  case partner::outcome::full:
  case partner::outcome::out_of_reach:
    break;
  }
  return outcome::not_now;
}

mailbox::time remote_core::next_tick() const {
  const auto next = std::min(requests_.next_tick(), next_look_);
  return requests_.instances() == 0 ? std::min(next, hello_.next()) : next;
}

void remote_core::say_hello(time now) {
  scratch_.clear();
  write_hello(scratch_, {id_});
  hello_.announce(scratch_.bytes(), now);
}

// -- hearing -------------------------------------------------------------------------------------

void remote_core::take(std::span<data_message> messages, time now) {
  const auto before = requests_.completed();
  for (const auto& each : messages)
    if (get_topic(each) == callers_topic_ || get_topic(each) == own_topic_) // not one below
      requests_.receive(each, now, is_prompt());
  if (const auto n = requests_.completed() - before; n >= tuning::enough_to_measure)
    requests_.note_calls(n, clock::now() - now, true);
  if (closed_) // and so is the endpoint
    requests_.abandon(refused()->error);
}

void remote_core::tick(time now) {
  if (now >= next_look_) {
    next_look_ = now + tuning::time_between_looks;
    look_for_lost(now);
  }
  if (requests_.instances() == 0 && hello_.is_due(now))
    say_hello(now);
  requests_.tick(now);
}

/// What an instance said before it left may be unread, and must be read before.
void remote_core::look_for_lost(time now) {
  for (const auto& each : requests_.known_instances())
    (void)instances_[each];
  const auto lost = instances_.find_gone(now);
  if (lost.empty() || anything_unread())
    return;
  for (const auto& each : lost) {
    instances_.erase(each);
    requests_.lose(each, now);
  }
}

// -- looking -------------------------------------------------------------------------------------

bool remote_core::wait_for_instances(std::size_t n, std::chrono::nanoseconds timeout) {
  lock_type lock{mutex_};
  return wait(lock, limit_after(timeout), [&] { return requests_.instances() >= n; });
}

std::size_t remote_core::instances() const {
  lock_type lock{mutex_};
  return requests_.instances();
}

std::size_t remote_core::unfinished() const {
  lock_type lock{mutex_};
  return requests_.unfinished();
}

remote_conditions remote_core::conditions() const {
  lock_type lock{mutex_};
  return requests_.conditions();
}

remote_conditions remote_core::conditions(std::string_view operation) const {
  lock_type lock{mutex_};
  return requests_.conditions(operation);
}

remote_plan remote_core::plan() const {
  lock_type lock{mutex_};
  return requests_.plan();
}

remote_counters remote_core::counters() const {
  lock_type lock{mutex_};
  return requests_.counters();
}

bool remote_core::closed() const {
  lock_type lock{mutex_};
  return closed_;
}

error remote_core::failure() const {
  lock_type lock{mutex_};
  return failure_;
}

} // namespace pubsub::pattern
