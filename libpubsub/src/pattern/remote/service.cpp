// SPDX-License-Identifier: BSD-3-Clause
#include <pubsub/pattern/remote.hpp>

#include <algorithm>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <utility>

#include "pattern/mailbox/announcer.hpp"
#include "pattern/mailbox/check_counts.hpp"
#include "pattern/mailbox/mailbox.hpp"
#include "pattern/mailbox/speakers.hpp"
#include "pattern/remote/remote_messages.hpp"
#include "pattern/remote/reply_outbox.hpp"
#include "pattern/remote/service_queue.hpp"
#include "pattern/remote/service_results.hpp"

namespace pubsub {

namespace pattern {

/// An instance and its endpoint: receives requests, runs handlers, replies. A worker that waits for
/// requests reads, and goes on with what it found, so one worker hands nothing over. The instance
/// announces itself to clients again and again. Thread-safe.
class service_core final : private mailbox {
public:
  using clock = std::chrono::steady_clock;
  using mailbox::closed;

  /// The options are in range.
  service_core(std::shared_ptr<endpoint> at, std::string_view name, const service_options& options)
      : at_(std::move(at)), name_(name), options_(options), announcements_(at_),
        queue_(options_.workers, options_.queue_operations) {}
  ~service_core() override { close(); }

  expected<void> add(std::string_view name, writing_handler handler, repeatable repeat) {
    const lock_type lock{mutex_};
    if (started_ || closed_)
      return error{errc::invalid_argument, "operations are added before the service is started"};
    if (name.empty() || !handler)
      return error{errc::invalid_argument, "an operation has a name and a handler"};
    operations_[std::string{name}] = {std::move(handler), repeat == repeatable::idempotent};
    return {};
  }

  expected<void> start() {
    const std::lock_guard joining{joining_workers_};
    const lock_type lock{mutex_};
    if (started_ && !closed_)
      return {};
    auto in = at_->make_subscriber(filter{topic_of_service(name_), topic_of_instance(id_)});
    if (closed_ || in.closed())
      return error{errc::shutting_down, "the service or its endpoint is closed"};
    started_ = true;
    announcements_.add(topic_of_callers(name_));
    mailbox::start(std::move(in), own_reading::when_due);
    for (std::size_t i = 0; i < options_.workers; ++i)
      workers_.emplace_back([this] { run(); });
    return {};
  }

  std::size_t clients() const {
    const lock_type lock{mutex_};
    return static_cast<std::size_t>(std::ranges::count_if(
        clients_, [](const auto& each) { return each.second->is_within_reach(clock::now()); }));
  }

  service_counters counters() const {
    const lock_type lock{mutex_};
    return counters_;
  }

  void close() {
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

private:
  using outbox_ptr = std::shared_ptr<reply_outbox>;

  // -- workers -----------------------------------------------------------------------------------

  void run() {
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
  void do_work(lock_type& lock, service_results& out) {
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

  /// Called with the mutex held, which is released meanwhile.
  void reply(lock_type& lock, service_results& out) {
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
      kept = kept || outcome == partner::outcome::full;
      return outcome != partner::outcome::too_long;
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

  // -- the rest is called with the mutex held ----------------------------------------------------

  void take(std::span<data_message> messages, time now) override {
    last_read_ = now;
    for (const auto& each : messages)
      receive(each, now);
  }

  void tick(time now) override {
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

  time next_tick() const override { return std::min(announcements_.next(), next_flush_); }
  bool has_room() const override { return !queue_.full(); }

  void receive(const data_message& message, time now) {
    const auto value = get_view(message);
    const auto from = [&](const endpoint_id& client) {
      return speakers_.is_own_word(client, message, now);
    };
    if (const auto request = parse<request_view>(value); request && from(request->client))
      return receive(*request, message, now);
    if (const auto cancel = parse<cancel_request>(value); cancel && from(cancel->client))
      return queue_.cancel(*cancel);
    const auto hello = parse<service_hello>(value);
    if (!hello || !from(hello->client))
      ++counters_.refused;
    else if (const auto to = find_client(hello->client))
      to->try_send(status().bytes());
  }

  void receive(const request_view& request, const data_message& storage, time now) {
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

  /// Null: there are too many.
  outbox_ptr find_client(const endpoint_id& id) {
    const auto found = clients_.find(id);
    if (found != clients_.end() || clients_.size() >= tuning::most_clients)
      return found != clients_.end() ? found->second : nullptr;
    auto made = std::make_shared<reply_outbox>(at_->make_publisher(topic_of_caller(id)));
    return clients_.emplace(id, std::move(made)).first->second;
  }

  data_writer status() const {
    service_status all{id_, closed_, options_.workers};
    for (const auto& [name, its] : operations_)
      all.operations.push_back({name, its.idempotent});
    data_writer result;
    write(result, all);
    return result;
  }

  void send_untaken(const client_places& what) {
    const auto found = clients_.find(what.client);
    message_buffer message;
    const auto reply = message.encode(service_reply<value_list>{
        .instance = id_, .stream = what.stream, .untaken = {{what.first, what.count}}});
    if (found != clients_.end() && found->second->send(reply) == partner::outcome::full)
      note_behind(what.client);
  }

  /// Replies to this client were kept.
  void note_behind(const endpoint_id& client) {
    behind_.insert(client);
    if (next_flush_ != time::max())
      return;
    next_flush_ = clock::now() + tuning::time_between_tries;
    wake();
  }

  /// Sends what was kept for clients.
  void flush_outboxes(time until) {
    std::erase_if(behind_, [&](const endpoint_id& id) {
      const auto found = clients_.find(id);
      const bool all = found == clients_.end() || found->second->flush(until);
      if (all || found->second->kept_bytes() <= tuning::most_kept_bytes)
        queue_.go_on(id);
      return all;
    });
    next_flush_ = behind_.empty() ? time::max() : clock::now() + tuning::time_between_tries;
  }

  const std::shared_ptr<endpoint> at_;
  const std::string name_;
  const service_options options_;
  const endpoint_id id_ = endpoint_id::random();

  std::map<std::string, service_operation, std::less<>> operations_; // fixed once started
  announcer announcements_;
  std::map<endpoint_id, outbox_ptr> clients_;
  speakers speakers_;
  std::set<endpoint_id> behind_; // clients with replies that were kept
  time next_flush_ = time::max();
  service_queue queue_;
  time last_read_{};
  bool started_ = false;
  service_counters counters_;
  std::mutex joining_workers_; // guards workers_
  std::vector<std::thread> workers_;
};

} // namespace pattern

expected<service> service::open(const endpoint& at, std::string_view name,
                                const service_options& options) {
  if (auto why = pattern::check_counts({{"workers", options.workers},
                                        {"queue_operations", options.queue_operations},
                                        {"max_result_bytes", options.max_result_bytes}}))
    return why;
  auto shared = at.share();
  if (shared->make_subscriber({}).closed())
    return error{errc::shutting_down, "the endpoint is closed"};
  return service{std::make_shared<pattern::service_core>(std::move(shared), name, options)};
}

service::service(std::shared_ptr<pattern::service_core> core) noexcept : core_(std::move(core)) {}
service::service(service&&) noexcept = default;
service& service::operator=(service&&) noexcept = default;
service::~service() = default;

expected<void> service::add(std::string_view operation, operation_handler handler,
                            repeatable repeat) {
  if (!handler)
    return add(operation, writing_handler{}, repeat);
  return add(
      operation,
      [handler = std::move(handler)](const data_view& argument,
                                     data_writer& result) -> expected<void> {
        const auto value = handler(argument);
        if (!value)
          return value.error();
        result.write(*value);
        return {};
      },
      repeat);
}

expected<void> service::add(std::string_view operation, writing_handler handler,
                            repeatable repeat) {
  return core_->add(operation, std::move(handler), repeat);
}

expected<void> service::start() {
  return core_->start();
}

std::size_t service::clients() const {
  return core_->clients();
}

service_counters service::counters() const {
  return core_->counters();
}

void service::close() {
  core_->close();
}

bool service::closed() const {
  return core_->closed();
}

} // namespace pubsub
