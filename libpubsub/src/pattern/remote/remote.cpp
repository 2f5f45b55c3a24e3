// SPDX-License-Identifier: BSD-3-Clause
#include <pubsub/pattern/remote.hpp>

#include <algorithm>
#include <atomic>
#include <iterator>
#include <numeric>
#include <string>
#include <utility>

#include "pattern/mailbox/announcer.hpp"
#include "pattern/mailbox/check_counts.hpp"
#include "pattern/mailbox/mailbox.hpp"
#include "pattern/mailbox/partner.hpp"
#include "pattern/remote/request_table.hpp"
#include "pattern/remote/tuning.hpp"

namespace pubsub {

namespace pattern {

/// A client at one endpoint. A reply wakes the thread that waits for it, which reads. Thread-safe.
class remote_core final : private mailbox, private remote_port {
public:
  using clock = std::chrono::steady_clock;
  using call_ptr = std::shared_ptr<remote_call>;
  using mailbox::closed;

  /// The options are in range. It is closed if the endpoint is.
  remote_core(const std::shared_ptr<endpoint>& at, std::string_view name,
              const remote_options& options)
      : options_(options), hello_(at), instances_(at, topic_of_instance),
        requests_(id_, std::string{name}, options_, *this) {
    auto in = at->make_subscriber(filter{topic_of_callers(name), topic_of_caller(id_)});
    closed_ = in.closed();
    hello_.add(topic_of_service(name));
    start(std::move(in));
  }
  ~remote_core() override { close(); }

  /// Without a timeout that of the options.
  call_ptr submit(std::string_view operation, std::span<const std::byte> argument,
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

  /// Of the arguments, which lie one behind the other, each `step`-th from `first` on. All calls
  /// are made at once, so that they can go together; they need no room.
  std::vector<call_ptr> submit_all(std::string_view operation, std::span<const std::byte> arguments,
                                   std::size_t first, std::size_t step, grouping how) {
    std::vector<call_ptr> result;
    lock_type lock{mutex_};
    const auto now = clock::now();
    const auto late = deadline({}, now);
    for (std::size_t index = 0; !arguments.empty(); ++index) {
      const auto value = data_view::from_valid(arguments).bytes();
      arguments = arguments.subspan(value.size());
      if (index % step == first)
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

  /// Waits until it is complete; false at the limit.
  bool wait_for(const remote_call& call, time_limit until) {
    if (call.is_done())
      return true;
    lock_type lock{mutex_};
    if (!call.is_done())
      requests_.send(clock::now(), true);
    if (!wait(lock, until, [&] { return call.is_done(); }) && closed_)
      requests_.abandon(closed_error());
    return call.is_done();
  }

  /// Calls it once the call is complete, under the lock if that is later.
  void when_done(remote_call& call, std::function<void()> then) {
    lock_type lock{mutex_};
    if (!call.is_done())
      requests_.send(clock::now(), true); // the caller waits for the result
    if (!call.is_done())
      return call.then.push_back(std::move(then));
    lock.unlock();
    then();
  }

  bool cancel(remote_call& call) {
    if (call.is_done())
      return false;
    const lock_type lock{mutex_};
    return requests_.cancel(call, clock::now());
  }

  void send_pending() {
    const lock_type lock{mutex_};
    requests_.send(clock::now(), true);
  }

  std::size_t drain(time_limit until) {
    lock_type lock{mutex_};
    requests_.send(clock::now(), true);
    wait(lock, until, [&] { return requests_.unfinished() == 0; });
    return requests_.unfinished();
  }

  bool wait_for_instances(std::size_t n, time_limit until) {
    lock_type lock{mutex_};
    return wait(lock, until, [&] { return requests_.instances().size().instances >= n; });
  }

  /// What `part` returns of the requests.
  template <class Part>
  auto ask(Part part) const {
    const lock_type lock{mutex_};
    return part(requests_);
  }

  void close() {
    stop();
    const lock_type lock{mutex_};
    requests_.abandon(closed_error());
  }

private:
  static error closed_error() {
    return {errc::shutting_down, "the client of the service is closed"};
  }

  /// A call that was complete from the beginning.
  static call_ptr refused_call() {
    auto call = std::make_shared<remote_call>();
    call->error = closed_error();
    call->done = true;
    return call;
  }

  time deadline(std::optional<std::chrono::nanoseconds> timeout, time now) const {
    using std::chrono::nanoseconds;
    constexpr nanoseconds longest = std::chrono::hours{24 * 365};
    return now + std::clamp(timeout.value_or(options_.timeout), nanoseconds{0}, longest);
  }

  // -- the rest is called with the mutex held ----------------------------------------------------

  partner::outcome to_instance(const endpoint_id& id, std::span<const std::byte> message) override {
    return instances_[id].send(message);
  }
  bool is_served() override { return hello_.is_heard(); }
  bool is_known() const { return requests_.instances().size().instances > 0; }

  void take(std::span<data_message> messages, time now) override {
    for (const auto& each : messages)
      requests_.receive(each, now, is_prompt());
    if (closed_) // and so is the endpoint
      requests_.abandon(closed_error());
  }

  void tick(time now) override {
    if (now >= next_look_) {
      next_look_ = now + tuning::time_between_looks;
      look_for_lost(now);
    }
    if (!is_known() && hello_.is_due(now))
      hello_.announce(message_buffer{}.encode(service_hello{id_}), now);
    requests_.tick(now);
  }

  time next_tick() const override {
    const auto next = std::min(requests_.next_tick(), next_look_);
    return is_known() ? next : std::min(next, hello_.next());
  }

  /// What an instance said before it left may be unread, and must be read before.
  void look_for_lost(time now) {
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

  const remote_options options_;
  const endpoint_id id_ = endpoint_id::random();
  announcer hello_; // while no instance answers
  partner_map instances_;
  request_table requests_;
  time next_look_{};
};

} // namespace pattern

namespace {

using pattern::limit_after;

error check_time(std::string_view name, std::chrono::nanoseconds value) {
  if (value.count() > 0)
    return {};
  return {errc::invalid_argument, std::string{name} + " is " + std::to_string(value.count()) +
                                      " ns, and must be more than 0"};
}

error check(const remote_options& x) {
  if (!std::ranges::count(all_remote_modes, x.mode))
    return {errc::invalid_argument, "mode is " + std::to_string(static_cast<unsigned>(x.mode)) +
                                        ", which is no remote_mode"};
  if (auto why = pattern::check_counts({{"parallel", x.parallel},
                                        {"window_operations", x.window_operations},
                                        {"bulk_operations", x.bulk_operations},
                                        {"max_unfinished", x.max_unfinished}}))
    return why;
  if (auto why = check_time("timeout", x.timeout))
    return why;
  return check_time("liveness_timeout", x.liveness_timeout);
}

} // namespace

std::string_view to_string(remote_mode x) noexcept {
  constexpr std::string_view names[] = {"sync", "bulk", "async", "pipeline", "hybrid", "auto"};
  static_assert(std::size(names) == std::size(all_remote_modes));
  const auto index = static_cast<std::size_t>(x);
  return index < std::size(names) ? names[index] : "unknown";
}

expected<remote_mode> parse_remote_mode(std::string_view name) {
  for (const auto each : all_remote_modes)
    if (to_string(each) == name)
      return each;
  return error{errc::invalid_argument,
               "there is no mode of remote execution '" + std::string{name} + "'"};
}

// -- future --------------------------------------------------------------------------------------

bool remote_future::ready() const {
  return call_->is_done();
}

expected<data> remote_future::get() const {
  core_->wait_for(*call_, {});
  if (call_->error)
    return call_->error;
  return call_->result.to_data();
}

received<expected<data>> remote_future::get_for(std::chrono::nanoseconds timeout) const {
  if (!wait_for(timeout))
    return receive_status::timeout;
  return get();
}

expected<data_view> remote_future::view() const {
  core_->wait_for(*call_, {});
  if (call_->error)
    return call_->error;
  return call_->result;
}

bool remote_future::wait_for(std::chrono::nanoseconds timeout) const {
  return core_->wait_for(*call_, limit_after(timeout));
}

void remote_future::when_ready(std::function<void()> then) const {
  core_->when_done(*call_, std::move(then));
}

bool remote_future::cancel() {
  return core_->cancel(*call_);
}

// -- client --------------------------------------------------------------------------------------

/// The client at each of its endpoints. In mode async calls are dealt out in turns, and in mode
/// auto those whose results are long; others take the first, which keeps their order.
struct pattern::remote_connections {
  explicit remote_connections(remote_mode how) : mode(how) {}
  ~remote_connections() {
    for (const auto& each : cores)
      each->close();
  }
  std::size_t number_for(std::string_view operation) const {
    const auto long_results = [&](const auto& x) { return x.has_long_results(operation); };
    const bool all =
        cores.size() == 1 || mode == remote_mode::async || cores.front()->ask(long_results);
    return all ? cores.size() : 1;
  }
  /// The sum of what `part` returns at each.
  template <class Part>
  std::size_t sum(Part part) const {
    return std::transform_reduce(cores.begin(), cores.end(), std::size_t{0}, std::plus{}, part);
  }

  const remote_mode mode;
  std::vector<std::shared_ptr<remote_core>> cores;
  std::atomic<std::size_t> next{0};
};

expected<remote> remote::open(const endpoint& at, std::string_view service_name,
                              const remote_options& options,
                              std::span<const endpoint* const> more) {
  if (auto why = check(options))
    return why;
  const bool several = options.mode == remote_mode::async || options.mode == remote_mode::auto_;
  const auto n = several ? 1 + more.size() : 1;
  auto share = options;
  share.parallel = std::max<std::size_t>(options.parallel / n, 1);
  share.max_unfinished = std::max<std::size_t>(options.max_unfinished / n, 1);
  auto result = std::make_unique<pattern::remote_connections>(options.mode);
  for (std::size_t i = 0; i < n; ++i) {
    const auto& its = i == 0 ? at : *more[i - 1];
    auto core = std::make_shared<pattern::remote_core>(its.share(), service_name, share);
    if (core->closed())
      return error{errc::shutting_down, "the endpoint is closed"};
    result->cores.push_back(std::move(core));
  }
  return remote{std::move(result)};
}

remote::remote(std::unique_ptr<pattern::remote_connections> connections) noexcept
    : connections_(std::move(connections)) {}
remote::remote(remote&&) noexcept = default;
remote& remote::operator=(remote&&) noexcept = default;
remote::~remote() = default;

remote_future remote::start_call(std::string_view operation, const encodable& argument,
                                 std::optional<std::chrono::nanoseconds> timeout) {
  const auto n = connections_->number_for(operation);
  const auto& core = connections_->cores[n == 1 ? 0 : connections_->next.fetch_add(1) % n];
  data_writer room;
  return {core, core->submit(operation, pattern::bytes_of(argument, room), timeout)};
}

remote_future remote::submit(std::string_view operation, const encodable& argument) {
  return start_call(operation, argument, {});
}

remote_future remote::submit_for(std::string_view operation, const encodable& argument,
                                 std::chrono::nanoseconds timeout) {
  return start_call(operation, argument, timeout);
}

std::vector<remote_future> remote::submit_all(std::string_view operation,
                                              const encodable_list& arguments, grouping how) {
  data_writer encoded;
  if (arguments.encoded() == nullptr)
    for (const auto& each : arguments.values())
      encoded.write(each);
  const auto bytes = arguments.encoded() != nullptr ? *arguments.encoded() : encoded.bytes();
  const auto n = how == grouping::in_bulk ? 1 : connections_->number_for(operation);
  std::vector<std::vector<std::shared_ptr<pattern::remote_call>>> calls;
  std::size_t all = 0;
  for (std::size_t i = 0; i < n; ++i) {
    calls.push_back(connections_->cores[i]->submit_all(operation, bytes, i, n, how));
    all += calls.back().size();
  }
  std::vector<remote_future> result;
  result.reserve(all);
  for (std::size_t i = 0; i < all; ++i)
    result.push_back({connections_->cores[i % n], std::move(calls[i % n][i / n])});
  return result;
}

std::vector<expected<data>> remote::map(std::string_view operation, const encodable_list& arguments,
                                        grouping how) {
  const auto futures = submit_all(operation, arguments, how);
  std::vector<expected<data>> result;
  result.reserve(futures.size());
  for (const auto& each : futures)
    result.push_back(each.get());
  return result;
}

void remote::send_pending() {
  for (const auto& each : connections_->cores)
    each->send_pending();
}

std::size_t remote::drain(std::chrono::nanoseconds timeout) {
  const auto until = limit_after(timeout);
  return connections_->sum([&](const auto& each) { return each->drain(until); });
}

bool remote::wait_for_instances(std::size_t n, std::chrono::nanoseconds timeout) const {
  const auto until = limit_after(timeout);
  return std::ranges::all_of(connections_->cores,
                             [&](const auto& each) { return each->wait_for_instances(n, until); });
}

std::size_t remote::instances() const {
  return connections_->cores.front()->ask(
      [](const auto& x) { return x.instances().size().instances; });
}

std::size_t remote::unfinished() const {
  return connections_->sum(
      [](const auto& each) { return each->ask([](const auto& x) { return x.unfinished(); }); });
}

remote_conditions remote::conditions() const {
  return connections_->cores.front()->ask([](const auto& x) { return x.conditions(); });
}

remote_plan remote::plan() const {
  return connections_->cores.front()->ask([](const auto& x) { return x.plan(); });
}

remote_counters remote::counters() const {
  using all = remote_counters;
  remote_counters result;
  for (const auto& each : connections_->cores) {
    const auto its = each->ask([](const auto& x) { return x.counters(); });
    for (const auto field :
         {&all::submitted, &all::done, &all::failed, &all::requests, &all::repeated, &all::refused})
      result.*field += its.*field;
  }
  return result;
}

void remote::close() {
  for (const auto& each : connections_->cores)
    each->close();
}

bool remote::closed() const {
  return connections_->cores.front()->closed();
}

} // namespace pubsub
