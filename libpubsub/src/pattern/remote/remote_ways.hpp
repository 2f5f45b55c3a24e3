// A client of a service over one endpoint or several: which of them a call takes.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "pattern/remote/remote_core.hpp"

namespace pubsub::pattern {

/// In mode async calls are dealt out in turns, and in mode auto those whose results take long to
/// transfer; others take the first, which keeps their order and fills requests. Thread-safe.
class remote_ways {
public:
  using core_ptr = std::shared_ptr<remote_core>;
  using call_list = std::vector<std::pair<core_ptr, remote_core::call_ptr>>;

  remote_ways(std::span<endpoint* const> ways, std::string_view name, remote_options options);

  std::pair<core_ptr, remote_core::call_ptr>
  submit(std::string_view operation, std::span<const std::byte> argument,
         std::optional<std::chrono::nanoseconds> timeout);
  /// Arguments one behind the other; results in their order.
  call_list submit_all(std::string_view operation, std::span<const std::byte> arguments,
                       bool in_bulk);
  void flush();
  std::size_t drain(std::chrono::nanoseconds timeout);
  /// On every way.
  bool wait_for_instances(std::size_t n, std::chrono::nanoseconds timeout);
  std::size_t unfinished() const;
  /// Of all ways together.
  remote_counters counters() const;
  void close();
  bool closed() const { return first().closed(); }
  remote_core& first() const noexcept { return *cores_.front(); }

private:
  std::size_t ways_for(std::string_view operation) const;

  const remote_mode mode_;
  std::vector<core_ptr> cores_;
  std::atomic<std::size_t> next_{0};
};

} // namespace pubsub::pattern
