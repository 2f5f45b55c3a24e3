#include <pubsub/pattern/versioned.hpp>

#include <pubsub/data_writer.hpp>

#include "pattern/mailbox/encoded_value.hpp"
#include "pattern/versioned/handles/group_core.hpp"
#include "pattern/versioned/handles/replica_core.hpp"

namespace pubsub {

namespace {

std::optional<versioned_message> first_of(std::vector<versioned_message> found) {
  if (found.empty())
    return {};
  return std::move(found.front());
}

} // namespace

// -- replica -------------------------------------------------------------------------------------

replica::replica(std::shared_ptr<pattern::replica_core> core) noexcept : core_(std::move(core)) {}

expected<replica> replica::open(const endpoint& at, std::string_view name,
                                const replica_options& options) {
  auto core = pattern::replica_core::open(at, name, options);
  if (!core)
    return core.error();
  return replica{std::move(*core)};
}

replica::replica(replica&&) noexcept = default;
replica& replica::operator=(replica&&) noexcept = default;

replica::~replica() {
  if (core_)
    core_->close();
}

std::optional<versioned_message> replica::get() {
  return first_of(core_->get(1, {}));
}

std::optional<versioned_message> replica::get(std::chrono::nanoseconds timeout) {
  return first_of(core_->get(1, timeout));
}

std::vector<versioned_message> replica::get_batch(std::size_t max) {
  return core_->get(max, {});
}

std::vector<versioned_message> replica::get_batch(std::size_t max,
                                                  std::chrono::nanoseconds timeout) {
  return core_->get(max, timeout);
}

message_version replica::applied() const {
  return core_->ask([](auto& x) { return x.applied(); });
}

message_version replica::held() const {
  return core_->ask([](auto& x) { return x.held(); });
}

replica_state replica::state() const {
  return core_->state();
}

bool replica::is_sequencer() const {
  return !core_->closed() && core_->ask([](auto& x) { return x.is_sequencer(); });
}

std::size_t replica::replicas() const {
  return core_->ask([](auto& x) { return x.replicas(); });
}

bool replica::wait_ready(std::chrono::nanoseconds timeout) const {
  return core_->wait_ready(timeout);
}

const std::string& replica::id() const noexcept {
  return core_->id();
}

replica_counters replica::counters() const {
  return core_->ask([](auto& x) { return x.counters(); });
}

void replica::close() {
  core_->close();
}

bool replica::closed() const {
  return core_->closed();
}

error replica::failure() const {
  return core_->ask([](auto& x) { return x.failure(); });
}

// -- client --------------------------------------------------------------------------------------

versioned_group::versioned_group(std::shared_ptr<pattern::group_core> core) noexcept
    : core_(std::move(core)) {}

expected<versioned_group> versioned_group::open(const endpoint& at, std::string_view name,
                                                const versioned_group_options& options) {
  auto core = pattern::group_core::open(at, name, options);
  if (!core)
    return core.error();
  return versioned_group{std::move(*core)};
}

versioned_group::versioned_group(versioned_group&&) noexcept = default;
versioned_group& versioned_group::operator=(versioned_group&&) noexcept = default;

versioned_group::~versioned_group() {
  if (core_)
    core_->close();
}

expected<message_version> versioned_group::send(const data& value) {
  return core_->send(pattern::encoded_value(value));
}

expected<message_version> versioned_group::send_encoded(std::span<const std::byte> value) {
  return core_->send(value);
}

expected<std::uint64_t> versioned_group::post(const data& value) {
  return core_->post(pattern::encoded_value(value));
}

expected<std::uint64_t> versioned_group::post_encoded(std::span<const std::byte> value) {
  return core_->post(value);
}

expected<std::uint64_t> versioned_group::post_batch(std::span<const std::byte> values) {
  return core_->post(values);
}

void versioned_group::flush() {
  core_->flush();
}

std::size_t versioned_group::drain(std::chrono::nanoseconds timeout) {
  return core_->drain(timeout);
}

std::vector<versioned_completion>
versioned_group::take_completions(std::chrono::nanoseconds timeout) {
  return core_->take_completions(timeout);
}

bool versioned_group::wait_for_replicas(std::size_t n, std::chrono::nanoseconds timeout) const {
  return core_->wait_for_replicas(n, timeout);
}

std::size_t versioned_group::replicas() const {
  return core_->ask([](auto& x) { return x.replicas(pattern::group_core::now()); });
}

std::size_t versioned_group::in_flight() const {
  return core_->ask([](auto& x) { return x.in_flight(); });
}

const endpoint_id& versioned_group::id() const noexcept {
  return core_->id();
}

versioned_group_counters versioned_group::counters() const {
  return core_->ask([](auto& x) { return x.counters(); });
}

void versioned_group::close() {
  core_->close();
}

bool versioned_group::closed() const {
  return core_->closed();
}

error versioned_group::failure() const {
  return core_->ask([](auto& x) { return x.failure(); });
}

} // namespace pubsub
