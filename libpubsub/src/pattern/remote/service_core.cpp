#include "pattern/remote/service_core.hpp"

#include <utility>

namespace pubsub::pattern {

using clock = std::chrono::steady_clock;

service_core::service_core(std::shared_ptr<endpoint> at, std::string_view name,
                           const service_options& options)
    : at_(std::move(at)), name_(name), options_(options), service_topic_(topic_of_service(name)),
      own_topic_(topic_of_instance(id_)), announcements_(at_),
      queue_(options_.workers, options_.queue_operations) {}

expected<void> service_core::add(std::string_view name, writing_handler handler,
                                 repeatable repeat) {
  const lock_type lock{mutex_};
  if (started_ || closed_)
    return error{errc::invalid_argument, "operations are added before the service is started"};
  if (name.empty() || !handler)
    return error{errc::invalid_argument, "an operation has a name and a handler"};
  operations_[std::string{name}] = {std::move(handler), repeat == repeatable::idempotent};
  return {};
}

expected<void> service_core::start() {
  const std::lock_guard joining{joining_workers_};
  const lock_type lock{mutex_};
  if (started_ && !closed_)
    return {};
  auto in = at_->make_subscriber(filter{service_topic_, own_topic_});
  if (closed_ || in.closed())
    return error{errc::shutting_down, "the service or its endpoint is closed"};
  started_ = true;
  announcements_.add(topic_of_callers(name_));
  mailbox::start(std::move(in), own_reading::when_due);
  for (std::size_t i = 0; i < options_.workers; ++i)
    workers_.emplace_back([this] { run(); });
  return {};
}

// -- workers -------------------------------------------------------------------------------------

void service_core::run() {
  service_results out{name_, id_, options_.max_result_bytes};
  lock_type lock{mutex_};
  while (!closed_) {
    if (!queue_.empty() && clock::now() - last_read_ > tuning::long_operation)
      look(lock);
    if (!queue_.empty())
      do_work(lock, out);
    else if (!out.empty())
      reply(lock, out);
    else
      wait(lock, {}, [&] { return !queue_.empty(); });
  }
  reply(lock, out);
}

/// Called with the mutex held, which is released meanwhile.
void service_core::do_work(lock_type& lock, service_results& out) {
  auto work = queue_.take();
  if (!out.goes_with(work))
    reply(lock, out);
  lock.unlock();
  out.run(work);
  lock.lock();
  queue_.put_back(std::move(work));
  if (out.is_due())
    reply(lock, out);
}

// -- replies -------------------------------------------------------------------------------------

/// Called with the mutex held, which is released meanwhile.
void service_core::reply(lock_type& lock, service_results& out) {
  if (out.empty())
    return;
  counters_.operations += out.size() - out.cancelled();
  counters_.failed += out.failed() - out.cancelled();
  counters_.cancelled += out.cancelled();
  lock.unlock();
  data_writer message;
  out.write(message);
  bool kept = false;
  const auto sent = [&](const data_writer& x) {
    const auto outcome = out.to()->send(x.bytes());
    kept = kept || outcome == reply_outbox::outcome::kept;
    return outcome != reply_outbox::outcome::too_long;
  };
  if (!sent(message))
    out.write_singly(sent);
  const bool too_much = kept && out.to()->kept_bytes() > tuning::most_kept_bytes;
  out.clear();
  lock.lock();
  if (kept)
    note_behind(out.client());
  if (too_much) // the client does not read
    queue_.hold_back(out.client());
}

/// Called with the mutex held.
void service_core::send_untaken(const client_places& what) {
  const auto found = clients_.find(what.client);
  data_writer message;
  write_untaken(message, id_, what);
  if (found != clients_.end() &&
      found->second->send(message.bytes()) == reply_outbox::outcome::kept)
    note_behind(what.client);
}

/// Called with the mutex held: replies to this client were kept.
void service_core::note_behind(const endpoint_id& client) {
  behind_.insert(client);
  if (next_flush_ != time::max())
    return;
  next_flush_ = clock::now() + tuning::time_between_tries;
  wake();
}

/// Called with the mutex held: sends what was kept for clients.
void service_core::flush_outboxes(time until) {
  std::erase_if(behind_, [&](const endpoint_id& id) {
    const auto found = clients_.find(id);
    const bool all = found == clients_.end() || found->second->flush(until);
    if (all || found->second->kept_bytes() <= tuning::most_kept_bytes)
      queue_.go_on(id);
    return all;
  });
  next_flush_ = behind_.empty() ? time::max() : clock::now() + tuning::time_between_tries;
}

// -- requests ------------------------------------------------------------------------------------

void service_core::take(std::span<data_message> messages, time now) {
  last_read_ = now;
  for (const auto& each : messages)
    receive(each, now);
}

/// Called with the mutex held.
void service_core::receive(const data_message& message, time now) {
  const auto topic = get_topic(message);
  if (topic != service_topic_ && topic != own_topic_)
    return; // of a name below
  const auto value = get_view(message);
  if (const auto request = parse<request_view>(value))
    return receive(*request, message, now);
  if (const auto cancel = parse<cancel_request>(value))
    return queue_.cancel(*cancel);
  const auto hello = parse<service_hello>(value);
  if (!hello)
    ++counters_.refused;
  else if (const auto from = find_client(hello->client))
    from->try_send(status().bytes());
}

/// Called with the mutex held.
void service_core::receive(const request_view& request, const data_message& storage, time now) {
  const auto to = find_client(request.client);
  if (!to) {
    ++counters_.refused;
    return;
  }
  const auto found = operations_.find(request.operation);
  const auto missing =
      queue_.add({request.places(), to, found != operations_.end() ? &found->second : nullptr,
                  request.arguments.elements().begin(), storage, now});
  ++(missing ? counters_.requests : counters_.refused);
  if (missing && missing->count > 0)
    send_untaken(*missing);
}

/// Called with the mutex held. Null: there are too many.
service_core::outbox_ptr service_core::find_client(const endpoint_id& id) {
  const auto found = clients_.find(id);
  if (found != clients_.end() || clients_.size() >= tuning::most_clients)
    return found != clients_.end() ? found->second : nullptr;
  auto made = std::make_shared<reply_outbox>(at_->make_publisher(topic_of_caller(id)));
  return clients_.emplace(id, std::move(made)).first->second;
}

// -- presence ------------------------------------------------------------------------------------

/// Called with the mutex held.
data_writer service_core::status() const {
  offered_operations offered;
  for (const auto& [name, its] : operations_)
    offered.emplace(name, its.idempotent);
  data_writer result;
  write_status(result, id_, closed_, options_.workers, offered);
  return result;
}

void service_core::tick(time now) {
  if (announcements_.is_due(now)) {
    announcements_.announce(status().bytes(), now);
    std::erase_if(clients_, [&](const auto& each) {
      const bool forgotten = each.second->is_forgotten(now);
      if (forgotten)
        queue_.forget(each.first);
      return forgotten;
    });
  }
  if (now >= next_flush_)
    flush_outboxes(now);
}

std::size_t service_core::clients() const {
  const lock_type lock{mutex_};
  return static_cast<std::size_t>(std::ranges::count_if(
      clients_, [](const auto& each) { return each.second->is_within_reach(clock::now()); }));
}

service_counters service_core::counters() const {
  const lock_type lock{mutex_};
  return counters_;
}

bool service_core::closed() const {
  const lock_type lock{mutex_};
  return closed_;
}

void service_core::close() {
  finish();
  const std::lock_guard joining{joining_workers_};
  for (auto& each : workers_)
    each.join();
  if (workers_.empty())
    return;
  workers_.clear();
  lock_type lock{mutex_};
  announcements_.announce(status().bytes(), clock::now()); // that it leaves
  for (const auto& each : take_unread())
    receive(each, clock::now()); // so that it can be given back
  for (const auto& each : queue_.clear())
    send_untaken(each);
  flush_outboxes(clock::now() + tuning::time_to_close);
  lock.unlock();
  stop();
}

} // namespace pubsub::pattern
