// A client of a group and its endpoint.
#pragma once

#include <array>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <pubsub/endpoint.hpp>
#include <pubsub/pattern/versioned.hpp>

#include "pattern/mailbox/mailbox.hpp"
#include "pattern/versioned/handles/versioned_links.hpp"
#include "pattern/versioned/protocol/client_window.hpp"

namespace pubsub::pattern {

/// Thread-safe.
class group_core final : private mailbox {
public:
  /// As `versioned_group::open`.
  static expected<std::shared_ptr<group_core>> open(const endpoint& at, std::string_view name,
                                                    const versioned_group_options& options);
  /// Subscribed to the two topics; the options are valid.
  group_core(const std::shared_ptr<endpoint>& at, subscriber in, std::array<std::string, 2> topics,
             std::string_view name, const versioned_group_options& options, const endpoint_id& id);
  ~group_core() override { close(); }

  expected<message_version> send(std::span<const std::byte> value);
  /// Values one behind the other.
  expected<std::uint64_t> post(std::span<const std::byte> values);
  void flush();
  std::size_t drain(std::chrono::nanoseconds timeout);
  std::vector<versioned_completion> take_completions(std::chrono::nanoseconds timeout);
  bool wait_for_replicas(std::size_t n, std::chrono::nanoseconds timeout) {
    lock_type lock{mutex_};
    return wait(lock, limit_after(timeout), [&] { return window_.replicas(now()) >= n; });
  }
  /// What a function says of the window, which must not be sought outside it.
  template <class Function>
  auto ask(Function&& function) const {
    const lock_type lock{mutex_};
    return function(window_);
  }
  const endpoint_id& id() const noexcept { return id_; }
  void close() { stop(); }
  bool closed() const {
    const lock_type lock{mutex_};
    return closed_;
  }
  static time now() { return std::chrono::steady_clock::now(); }

private:
  struct result {
    message_version at;
    pubsub::error error;
  };

  error why_closed() const;
  error check_size(std::size_t size_bytes) const;
  bool await_room(lock_type& lock);
  void take(std::span<data_message> messages, time now) override;
  void tick(time now) override;
  time next_tick() const override { return window_.next_tick(); }
  void collect();
  void report(const finished_run& run, std::uint64_t number);

  const versioned_group_options options_;
  const endpoint_id id_;
  const std::array<std::string, 2> topics_;
  versioned_links links_;
  client_window window_;
  std::map<std::uint64_t, std::optional<result>> awaited_; // by threads that send
  std::deque<versioned_completion> completions_;
  time next_look_{};
};

} // namespace pubsub::pattern
