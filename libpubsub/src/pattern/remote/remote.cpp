#include <pubsub/pattern/remote.hpp>

#include "pattern/mailbox/encoded_value.hpp"
#include "pattern/remote/remote_ways.hpp"
#include "pattern/remote/service_core.hpp"

namespace pubsub {

namespace {

void encode(data_writer& out, std::span<const data> all) {
  for (const auto& each : all)
    out.write(each);
}

expected<data> result_of(const pattern::remote_call& call) {
  if (call.error)
    return call.error;
  return call.result.to_data();
}

std::vector<expected<data>> results_of(const pattern::remote_ways::call_list& calls) {
  std::vector<expected<data>> result;
  result.reserve(calls.size());
  for (const auto& [core, call] : calls) {
    core->wait_for(*call, {});
    result.push_back(result_of(*call));
  }
  return result;
}

} // namespace

std::string_view to_string(remote_mode x) noexcept {
  switch (x) {
  case remote_mode::sync:
    return "sync";
  case remote_mode::bulk:
    return "bulk";
  case remote_mode::async:
    return "async";
  case remote_mode::pipeline:
    return "pipeline";
  case remote_mode::hybrid:
    return "hybrid";
  case remote_mode::auto_:
    return "auto";
  }
  return "unknown";
}

expected<remote_mode> parse_remote_mode(std::string_view name) {
  for (const auto each : all_remote_modes)
    if (to_string(each) == name)
      return each;
  return error{errc::invalid_argument,
               "there is no mode of remote execution '" + std::string{name} + "'"};
}

// -- service -------------------------------------------------------------------------------------

service::service(endpoint& at, std::string_view name, const service_options& options)
    : core_(std::make_shared<pattern::service_core>(at.share(), name, options)) {}

service::service(service&&) noexcept = default;
service& service::operator=(service&&) noexcept = default;

service::~service() {
  if (core_)
    core_->close();
}

expected<void> service::add(std::string_view operation, operation_handler handler,
                            const operation_options& options) {
  if (!handler)
    return core_->add(operation, {}, options);
  return core_->add(
      operation,
      [handler = std::move(handler)](const data_view& argument,
                                     data_writer& result) -> expected<void> {
        const auto value = handler(argument);
        if (!value)
          return value.error();
        result.write(*value);
        return {};
      },
      options);
}

expected<void> service::add_encoded(std::string_view operation, encoded_handler handler,
                                    const operation_options& options) {
  return core_->add(operation, std::move(handler), options);
}

void service::start() {
  core_->start();
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

std::optional<expected<data>> remote_future::get(std::chrono::nanoseconds timeout) const {
  if (!wait(timeout))
    return {};
  return result_of(*call_);
}

bool remote_future::wait(std::chrono::nanoseconds timeout) const {
  return core_->wait_for(*call_, pattern::limit_after(timeout));
}

void remote_future::when_ready(std::function<void()> then) const {
  core_->when_done(*call_, std::move(then));
}

expected<data_view> remote_future::view() const {
  core_->wait_for(*call_, {});
  if (call_->error)
    return call_->error;
  return call_->result;
}

bool remote_future::cancel() {
  return core_->cancel(*call_);
}

// -- client --------------------------------------------------------------------------------------

remote::remote(endpoint& at, std::string_view service_name, const remote_options& options,
               std::span<endpoint* const> more) {
  std::vector<endpoint*> all{&at};
  all.insert(all.end(), more.begin(), more.end());
  ways_ = std::make_shared<pattern::remote_ways>(all, service_name, options);
}

remote::remote(remote&&) noexcept = default;
remote& remote::operator=(remote&&) noexcept = default;

remote::~remote() {
  if (ways_)
    ways_->close();
}

expected<data> remote::call(std::string_view operation, const data& argument) {
  return submit(operation, argument).get();
}

expected<data> remote::call(std::string_view operation, const data& argument,
                            std::chrono::nanoseconds timeout) {
  return submit(operation, argument, timeout).get();
}

remote_future remote::submit(std::string_view operation, const data& argument) {
  return submit_encoded(operation, pattern::encoded_value(argument));
}

remote_future remote::submit(std::string_view operation, const data& argument,
                             std::chrono::nanoseconds timeout) {
  return submit_encoded(operation, pattern::encoded_value(argument), timeout);
}

remote_future remote::submit_encoded(std::string_view operation,
                                     std::span<const std::byte> argument) {
  auto [core, call] = ways_->submit(operation, argument, {});
  return {std::move(core), std::move(call)};
}

remote_future remote::submit_encoded(std::string_view operation,
                                     std::span<const std::byte> argument,
                                     std::chrono::nanoseconds timeout) {
  auto [core, call] = ways_->submit(operation, argument, timeout);
  return {std::move(core), std::move(call)};
}

std::vector<expected<data>> remote::map(std::string_view operation,
                                        std::span<const data> arguments) {
  data_writer out;
  encode(out, arguments);
  return results_of(ways_->submit_all(operation, out.bytes(), false));
}

std::vector<expected<data>> remote::bulk(std::string_view operation,
                                         std::span<const data> arguments) {
  data_writer out;
  encode(out, arguments);
  return results_of(ways_->submit_all(operation, out.bytes(), true));
}

std::vector<remote_future> remote::map_encoded(std::string_view operation,
                                               std::span<const std::byte> arguments) {
  std::vector<remote_future> result;
  for (auto& [core, call] : ways_->submit_all(operation, arguments, false))
    result.push_back({std::move(core), std::move(call)});
  return result;
}

std::vector<remote_future> remote::bulk_encoded(std::string_view operation,
                                                std::span<const std::byte> arguments) {
  std::vector<remote_future> result;
  for (auto& [core, call] : ways_->submit_all(operation, arguments, true))
    result.push_back({std::move(core), std::move(call)});
  return result;
}

void remote::flush() {
  ways_->flush();
}

std::size_t remote::drain(std::chrono::nanoseconds timeout) {
  return ways_->drain(timeout);
}

bool remote::wait_for_instances(std::size_t n, std::chrono::nanoseconds timeout) const {
  return ways_->wait_for_instances(n, timeout);
}

std::size_t remote::instances() const {
  return ways_->first().instances();
}

std::size_t remote::unfinished() const {
  return ways_->unfinished();
}

remote_conditions remote::conditions() const {
  return ways_->first().conditions();
}

remote_plan remote::plan() const {
  return ways_->first().plan();
}

remote_counters remote::counters() const {
  return ways_->counters();
}

void remote::close() {
  ways_->close();
}

bool remote::closed() const {
  return ways_->closed();
}

error remote::failure() const {
  return ways_->first().failure();
}

} // namespace pubsub
