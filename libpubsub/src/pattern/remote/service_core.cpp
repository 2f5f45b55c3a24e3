#include "pattern/remote/service_core.hpp"

#include <algorithm>
#include <utility>

namespace pubsub::pattern {

namespace {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

service_options checked(service_options options) {
  options.workers = std::max<std::size_t>(options.workers, 1);
  options.queue_operations = std::max<std::size_t>(options.queue_operations, 1);
  return options;
}

} // namespace

service_core::service_core(std::shared_ptr<endpoint> at, std::string_view name,
                           const service_options& options)
    : at_(std::move(at)), name_(name), options_(checked(options)),
      service_topic_(topic_of_service(name)), own_topic_(topic_of_instance(id_)),
      announcements_(at_), queue_(options_.workers, options_.queue_operations) {}

expected<void> service_core::add(std::string_view name, encoded_handler handler,
                                 const operation_options& options) {
  const lock_type lock{mutex_};
  if (started_ || closed_)
    return error{errc::invalid_argument, "operations are added before the service is started"};
  if (name.empty() || !handler)
    return error{errc::invalid_argument, "an operation has a name and a handler"};
  operations_[std::string{name}] = {std::move(handler), options.repeat == repeatable::idempotent};
  return {};
}

void service_core::start() {
  const std::lock_guard joining{joining_workers_};
  const lock_type lock{mutex_};
  if (started_ || closed_)
    return;
  started_ = true;
  announcements_.add(topic_of_callers(name_));
  mailbox::start(at_->make_subscriber(filter{service_topic_, own_topic_}), own_reading::when_due);
  for (std::size_t i = 0; i < options_.workers; ++i)
    workers_.emplace_back([this] { run(); });
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
  const auto sent = [&](const data_writer& x) {
    return send(out.client(), *out.to(), x) != reply_outbox::outcome::too_long;
  };
  if (!sent(message))
    out.write_singly(sent);
  out.clear();
  lock.lock();
}

/// Called without the mutex. A client that does not read is held back.
reply_outbox::outcome service_core::send(const endpoint_id& client, reply_outbox& to,
                                         const data_writer& message) {
  const auto result = to.send(message.bytes());
  if (result != reply_outbox::outcome::kept)
    return result;
  const bool too_much = to.kept_bytes() > tuning::most_kept_bytes;
  const lock_type lock{mutex_};
  note_behind(client);
  if (too_much)
    queue_.hold_back(client);
  return result;
}

/// Called without the mutex.
void service_core::send_untaken(const endpoint_id& client, reply_outbox& to, std::uint64_t stream,
                                const number_run& places) {
  data_writer message;
  write_untaken(message, id_, stream, places);
  send(client, to, message);
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
  if (const auto request = parse_request(value))
    return hear(*request, message, now);
  if (const auto cancel = parse_cancel(value))
    return queue_.cancel(*cancel);
  if (const auto hello = parse_hello(value)) {
    if (const auto from = find_client(hello->client)) {
      data_writer answer;
      write_status(answer, status());
      from->try_send(answer.bytes());
    }
    return;
  }
  ++counters_.refused;
}

/// Called with the mutex held. Null: there are too many.
service_core::outbox_ptr service_core::find_client(const endpoint_id& id) {
  const auto found = clients_.find(id);
  if (found != clients_.end())
    return found->second;
  if (clients_.size() >= tuning::most_clients)
    return {};
  auto made = std::make_shared<reply_outbox>(at_->make_publisher(topic_of_caller(id)));
  clients_.emplace(id, made);
  return made;
}

/// Called with the mutex held.
void service_core::hear(const request_view& request, const data_message& storage, time now) {
  const auto to = find_client(request.at.client);
  if (!to) {
    ++counters_.refused;
    return;
  }
  const auto found = operations_.find(request.operation);
  const bool known = found != operations_.end();
  const auto result = queue_.add({request.at.client,
                                  to,
                                  request.at.stream,
                                  request.at.first,
                                  request.arguments.size(),
                                  known ? &found->second : nullptr,
                                  known ? std::string{} : request.operation,
                                  request.arguments.elements().begin(),
                                  storage,
                                  now,
                                  {}});
  ++(result.taken ? counters_.requests : counters_.refused);
  if (!result.missing)
    return;
  data_writer message;
  write_untaken(message, id_, request.at.stream, *result.missing);
  if (to->send(message.bytes()) == reply_outbox::outcome::kept)
    note_behind(request.at.client);
}

// -- presence ------------------------------------------------------------------------------------

/// Called with the mutex held.
service_status service_core::status() const {
  service_status result{id_, closed_, options_.workers, {}};
  for (const auto& [name, its] : operations_)
    result.operations.push_back({name, its.idempotent});
  return result;
}

/// Called with the mutex held.
void service_core::announce(time now) {
  data_writer message;
  write_status(message, status());
  announcements_.announce(message.bytes(), now);
}

void service_core::tick(time now) {
  if (announcements_.is_due(now)) {
    announce(now);
    forget_clients(now);
  }
  if (now >= next_flush_)
    flush_outboxes(now);
}

/// Called with the mutex held: replies to this client were kept.
void service_core::note_behind(const endpoint_id& client) {
  behind_.insert(client);
  if (next_flush_ != time::max())
    return;
  next_flush_ = clock::now() + tuning::time_between_flushes;
  wake();
}

/// Called with the mutex held: what clients were behind with.
void service_core::flush_outboxes(time until) {
  for (auto each = behind_.begin(); each != behind_.end();) {
    const auto id = *each++;
    const auto found = clients_.find(id);
    const bool all = found == clients_.end() || found->second->flush(until);
    if (all)
      behind_.erase(id);
    if (!all && found->second->kept_bytes() > tuning::most_kept_bytes)
      continue;
    queue_.go_on(id);
  }
  next_flush_ = behind_.empty() ? time::max() : clock::now() + tuning::time_between_flushes;
}

/// Called with the mutex held.
void service_core::forget_clients(time now) {
  std::erase_if(clients_, [&](const auto& each) {
    const bool forgotten = each.second->is_forgotten(now);
    if (forgotten)
      queue_.forget(each.first);
    return forgotten;
  });
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
  announce(clock::now()); // it leaves
  for (const auto& each : take_unread())
    receive(each, clock::now()); // so that it can be given back
  const auto on_their_way = queue_.open_ends();
  const auto left = queue_.clear();
  const auto clients = clients_;
  lock.unlock();
  for (const auto& each : left)
    send_untaken(each.client, *each.to, each.stream, {each.first, each.count});
  for (const auto& each : on_their_way)
    send_untaken(each.client, *clients.at(each.client), each.stream, each.places);
  lock.lock();
  flush_outboxes(clock::now() + tuning::time_to_close);
  lock.unlock();
  stop();
}

} // namespace pubsub::pattern
