// A replica and its endpoint.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <pubsub/endpoint.hpp>

#include "pattern/mailbox/mailbox.hpp"
#include "pattern/versioned/handles/versioned_links.hpp"
#include "pattern/versioned/protocol/replica_protocol.hpp"

namespace pubsub::pattern {

/// Thread-safe.
class replica_core final : private mailbox {
public:
  /// As `replica::open`.
  static expected<std::shared_ptr<replica_core>> open(const endpoint& at, std::string_view name,
                                                      const replica_options& options);
  /// Subscribed to the three topics; the options are valid.
  replica_core(const std::shared_ptr<endpoint>& at, subscriber in,
               std::array<std::string, 3> topics, std::string_view name,
               const replica_options& options, const endpoint_id& id);
  ~replica_core() override { close(); }

  /// Without a timeout as long as it takes.
  std::vector<versioned_message> get(std::size_t max,
                                     std::optional<std::chrono::nanoseconds> timeout);
  bool wait_ready(std::chrono::nanoseconds timeout) {
    lock_type lock{mutex_};
    return wait(lock, limit_after(timeout),
                [&] { return replica_.state() == replica_state::member; });
  }
  /// What a function says of the replica, which must not be sought outside it.
  template <class Function>
  auto ask(Function&& function) const {
    const lock_type lock{mutex_};
    return function(replica_);
  }
  replica_state state() const;
  const std::string& id() const noexcept { return name_; }
  void close() { stop(); }
  bool closed() const {
    const lock_type lock{mutex_};
    return closed_;
  }

private:
  void take(std::span<data_message> messages, time now) override;
  void tick(time now) override;
  time next_tick() const override { return replica_.next_tick(); }
  bool has_room() const override;
  bool has_work() const {
    return !in_state_call_ &&
           (replica_.available() > 0 || replica_.needs_restore() || replica_.needs_snapshot());
  }
  void look_after_state(lock_type& lock);

  const replica_options options_;
  const std::string name_;
  const std::array<std::string, 3> topics_;
  versioned_links links_;
  replica_protocol replica_;
  time next_look_{};
  bool in_state_call_ = false; // a thread is in a function of the user, without the mutex
};

} // namespace pubsub::pattern
