// A client of a group and its endpoint.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <pubsub/endpoint.hpp>
#include <pubsub/pattern/versioned.hpp>

#include "pattern/mailbox/turn_reader.hpp"
#include "pattern/versioned/client_window.hpp"
#include "pattern/versioned/versioned_ways.hpp"

namespace pubsub::pattern {

/// Thread-safe.
class group_core final : private turn_reader {
public:
  group_core(endpoint& at, std::string_view name, const versioned_group_options& options);
  ~group_core() { close(); }

  expected<message_version> send(std::span<const std::byte> value);
  /// Values one behind the other.
  expected<std::uint64_t> post(std::span<const std::byte> values);
  void flush();
  std::size_t drain(std::chrono::nanoseconds timeout);
  std::vector<versioned_completion> take_completions(std::chrono::nanoseconds timeout);
  bool wait_for_replicas(std::size_t n, std::chrono::nanoseconds timeout);
  std::size_t replicas() const;
  std::size_t in_flight() const;
  const endpoint_id& id() const noexcept { return id_; }
  versioned_group_counters counters() const;
  void close() { stop(); }
  bool closed() const {
    lock_type lock{mutex_};
    return closed_;
  }
  error failure() const {
    lock_type lock{mutex_};
    return failure_;
  }

private:
  struct result {
    message_version at;
    pubsub::error error;
  };

  group_core(endpoint& at, std::string_view name, const versioned_group_options& options,
             const endpoint_id& id);
  error why_closed() const;
  error check_size(std::size_t size_bytes) const;
  bool await_room(lock_type& lock);
  void take(const std::vector<data_message>& messages, time now) override;
  void tick(time now) override;
  time next_tick() const override { return window_.next_tick(); }
  void collect();
  void report(const finished_run& run, std::uint64_t number);

  const versioned_group_options options_;
  const endpoint_id id_;
  const std::string status_topic_, own_topic_;
  versioned_ways ways_;
  client_window window_;
  std::map<std::uint64_t, std::optional<result>> awaited_; // by those who send
  std::deque<versioned_completion> completions_;
  time next_look_{};
  error failure_;
};

} // namespace pubsub::pattern
