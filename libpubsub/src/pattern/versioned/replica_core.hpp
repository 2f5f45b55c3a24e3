// A replica and its endpoint.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <pubsub/endpoint.hpp>

#include "pattern/mailbox/turn_reader.hpp"
#include "pattern/versioned/replica_books.hpp"
#include "pattern/versioned/versioned_ways.hpp"

namespace pubsub::pattern {

/// Thread-safe.
class replica_core final : private turn_reader {
  template <class Function>
  auto of(Function&& ask) const {
    lock_type lock{mutex_};
    return ask(books_);
  }

public:
  replica_core(endpoint& at, std::string_view name, const replica_options& options);
  ~replica_core() { close(); }

  /// Without a timeout as long as it takes.
  std::vector<versioned_message> get(std::size_t max,
                                     std::optional<std::chrono::nanoseconds> timeout);
  bool wait_until_counting(std::chrono::nanoseconds timeout);
  message_version applied() const {
    return of([](auto& books) { return books.applied(); });
  }
  message_version held() const {
    return of([](auto& books) { return books.held(); });
  }
  replica_state state() const;
  bool stamping() const {
    return !closed() && of([](auto& books) { return books.leads(); });
  }
  std::size_t replicas() const {
    return of([](auto& books) { return books.replicas(); });
  }
  const std::string& id() const noexcept { return name_; }
  replica_counters counters() const {
    return of([](auto& books) { return books.counters(); });
  }
  void close() { stop(); }
  bool closed() const {
    lock_type lock{mutex_};
    return closed_;
  }
  error failure() const {
    lock_type lock{mutex_};
    return failure_ ? failure_ : books_.failure();
  }

private:
  replica_core(endpoint& at, std::string_view name, const replica_options& options,
               const endpoint_id& id);
  void take(const std::vector<data_message>& messages, time now) override;
  void tick(time now) override;
  time next_tick() const override { return books_.next_tick(); }
  bool has_room() const override;
  bool has_work() const {
    return !in_state_call_ &&
           (books_.available() > 0 || books_.wants_restore() || books_.wants_snapshot());
  }
  void look_after_state(lock_type& lock);

  const replica_options options_;
  const endpoint_id id_;
  const std::string name_;
  const std::string replicas_topic_, status_topic_, own_topic_;
  versioned_ways ways_;
  replica_books books_;
  time next_look_{};
  bool in_state_call_ = false; // somebody is in a function of the user, without the mutex
  error failure_;
};

} // namespace pubsub::pattern
