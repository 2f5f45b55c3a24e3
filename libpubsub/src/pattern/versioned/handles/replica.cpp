// SPDX-License-Identifier: BSD-3-Clause
#include <cassert>

#include <pubsub/data_writer.hpp>
#include <pubsub/pattern/versioned.hpp>

#include "pattern/versioned/handles/group_mailbox.hpp"
#include "pattern/versioned/protocol/replica_protocol.hpp"

namespace pubsub {

namespace pattern {

class replica_core final : public group_mailbox<replica_protocol> {
public:
  replica_core(const std::shared_ptr<endpoint>& at, std::string_view group,
               const replica_options& options, const endpoint_id& id)
      : group_mailbox(at, group,
                      {topic_of_replicas(group), topic_of_status(group), topic_of_replica(id)}, id,
                      options.id.empty() ? to_string(id) : options.id, options) {
    begin(*at);
  }
  ~replica_core() override { close(); }

  /// Without a timeout as long as it takes.
  received<std::vector<versioned_message>> get(std::size_t max,
                                               std::optional<std::chrono::nanoseconds> timeout);
  received<versioned_message> get_one(std::optional<std::chrono::nanoseconds> timeout) {
    auto found = get(1, timeout);
    if (!found)
      return found.status();
    return std::move(found->front());
  }
  const std::string& name() const noexcept { return protocol_.name(); }

private:
  void tick(time now) override {
    if (!has_room())
      protocol_.excuse_silence(now);
    group_mailbox::tick(now);
  }
  bool has_room() const override {
    return protocol_.available() < tuning::most_waiting &&
           protocol_.log().waiting_bytes() < tuning::most_waiting_bytes;
  }
  bool has_work() const {
    return !in_state_call_ &&
           (protocol_.available() > 0 || protocol_.needs_restore() || protocol_.needs_snapshot());
  }
  void look_after_state(lock_type& lock);

  bool in_state_call_ = false; // a thread is in a function of the user, without the mutex
};

received<std::vector<versioned_message>>
replica_core::get(std::size_t max, std::optional<std::chrono::nanoseconds> timeout) {
  assert(max > 0);
  const auto until = limit_after(timeout);
  std::vector<versioned_message> result;
  lock_type lock{mutex_};
  look(lock);
  while (wait(lock, until, [&] { return has_work(); })) {
    look_after_state(lock);
    if (!closed_ && protocol_.take(result, std::max<std::size_t>(max, 1)) > 0)
      return result;
  }
  return closed_ ? receive_status::closed : receive_status::timeout;
}

/// Called with the mutex held, which is released meanwhile, by a thread that gets messages: it has
/// done with what was handed out before.
void replica_core::look_after_state(lock_type& lock) {
  const auto restore = protocol_.take_restore();
  const bool snapshot = protocol_.needs_snapshot();
  if (!restore && !snapshot)
    return;
  in_state_call_ = true;
  data state;
  lock.unlock();
  try {
    const auto& options = protocol_.options();
    if (restore)
      options.restore(data_view::from_valid(restore->first.state.bytes), restore->first.at);
    if (snapshot)
      state = options.snapshot();
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
  protocol_.give_snapshot(encoded.bytes());
}

} // namespace pattern

replica::replica(std::shared_ptr<pattern::replica_core> core) noexcept : core_(std::move(core)) {}

expected<replica> replica::open(const endpoint& at, std::string_view name,
                                const replica_options& options) {
  namespace tuning = pattern::tuning;
  if (auto wrong = pattern::check_counts({{"group_size", options.group_size},
                                          {"history_messages", options.history_messages},
                                          {"history_bytes", options.history_bytes}}))
    return wrong;
  if (auto wrong = pattern::check_time("liveness_timeout", options.liveness_timeout,
                                       tuning::shortest_liveness_timeout))
    return wrong;
  auto core =
      std::make_shared<pattern::replica_core>(at.share(), name, options, endpoint_id::random());
  if (core->closed())
    return error{errc::shutting_down, "the endpoint is closed"};
  return replica{std::move(core)};
}

replica::replica(replica&&) noexcept = default;
replica& replica::operator=(replica&&) noexcept = default;

replica::~replica() {
  if (core_)
    core_->close();
}

received<versioned_message> replica::get() {
  return core_->get_one({});
}

received<versioned_message> replica::get_for(std::chrono::nanoseconds timeout) {
  return core_->get_one(timeout);
}

received<versioned_message> replica::try_get() {
  return core_->get_one(std::chrono::nanoseconds{0});
}

received<std::vector<versioned_message>> replica::get_batch(std::size_t max) {
  return core_->get(max, {});
}

received<std::vector<versioned_message>> replica::get_batch_for(std::size_t max,
                                                                std::chrono::nanoseconds timeout) {
  return core_->get(max, timeout);
}

message_version replica::applied() const {
  return core_->ask([](auto& x) { return x.log().applied(); });
}

message_version replica::held() const {
  return core_->ask([](auto& x) { return x.log().held(); });
}

replica_state replica::state() const {
  return core_->closed() ? replica_state::closed : core_->ask([](auto& x) { return x.state(); });
}

bool replica::is_sequencer() const {
  return !core_->closed() && core_->ask([](auto& x) { return x.epoch().leads(); });
}

std::size_t replica::replicas() const {
  return core_->ask([](auto& x) { return x.replicas(); });
}

bool replica::wait_ready(std::chrono::nanoseconds timeout) const {
  return core_->await(timeout, [](auto& x) { return x.state() == replica_state::member; });
}

const std::string& replica::id() const noexcept {
  return core_->name();
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

} // namespace pubsub
