#include <pubsub/pattern/remote.hpp>

#include <algorithm>
#include <atomic>
#include <functional>
#include <initializer_list>
#include <iterator>
#include <numeric>
#include <string>
#include <utility>

#include "pattern/mailbox/encoded_value.hpp"
#include "pattern/remote/remote_core.hpp"
#include "pattern/remote/service_core.hpp"

namespace pubsub {

namespace {

using pattern::limit_after;

struct size_option {
  std::string_view name;
  std::size_t value = 0;
};

error check(std::initializer_list<size_option> options) {
  for (const auto& [name, value] : options)
    if (value == 0)
      return {errc::invalid_argument, std::string{name} + " is 0, and must be at least 1"};
  return {};
}

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
  if (auto why = check({{"parallel", x.parallel},
                        {"window_operations", x.window_operations},
                        {"bulk_operations", x.bulk_operations},
                        {"max_unfinished", x.max_unfinished}}))
    return why;
  if (auto why = check_time("timeout", x.timeout))
    return why;
  return check_time("liveness_timeout", x.liveness_timeout);
}

expected<data> result_of(const pattern::remote_call& call) {
  if (call.error)
    return call.error;
  return call.result.to_data();
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

// -- service -------------------------------------------------------------------------------------

expected<service> service::open(const endpoint& at, std::string_view name,
                                const service_options& options) {
  if (auto why = check({{"workers", options.workers},
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

// -- future --------------------------------------------------------------------------------------

bool remote_future::ready() const {
  return call_->done.load(std::memory_order_acquire);
}

expected<data> remote_future::get() const {
  core_->wait_for(*call_, {});
  return result_of(*call_);
}

received<expected<data>> remote_future::get_for(std::chrono::nanoseconds timeout) const {
  if (!wait_for(timeout))
    return receive_status::timeout;
  return result_of(*call_);
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
    auto core = pattern::remote_core::open(i == 0 ? at : *more[i - 1], service_name, share);
    if (!core)
      return core.error();
    result->cores.push_back(std::move(*core));
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
    calls.push_back(connections_->cores[i]->submit_all(operation, {bytes, i, n}, how));
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
