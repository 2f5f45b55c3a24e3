// Remote execution: how requests travel, and how many.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <pubsub/error.hpp>
#include <pubsub/export.hpp>

namespace pubsub {

/// How operations become requests.
enum class remote_mode : std::uint8_t {
  sync,     ///< one operation, one request; the next one goes when the reply is here
  bulk,     ///< all operations that wait, one request; the next one goes when the replies are here
  async,    ///< each a request; up to `parallel` at a time, finished in any order
  pipeline, ///< each a request; a stream of requests and one of replies, finished in their order;
            ///< short ones that can leave at the same time share a message
  hybrid,   ///< bulks of `bulk_operations` in the pipeline
  auto_,    ///< chooses among the others from what it measures, and again when that changes
};

inline constexpr remote_mode all_remote_modes[] = {remote_mode::sync,   remote_mode::bulk,
                                                   remote_mode::async,  remote_mode::pipeline,
                                                   remote_mode::hybrid, remote_mode::auto_};

/// The name of the enumerator, e.g. `pipeline`; `auto` for `auto_`.
PUBSUB_EXPORT std::string_view to_string(remote_mode x) noexcept;
/// Errors: invalid_argument, no mode has this name.
PUBSUB_EXPORT expected<remote_mode> parse_remote_mode(std::string_view name);

/// How `remote::submit_all` and `remote::map` group operations.
enum class grouping : std::uint8_t {
  by_mode, ///< as the mode of the client says
  in_bulk, ///< in one request to each instance, several where arguments are long
};

/// How an instance of a service works.
struct service_options {
  /// Threads that run handlers; at least 1. Each takes requests itself: there is no other thread
  /// between the network and a handler. With 1, operations of a client are done in their order.
  std::size_t workers = 1;
  /// Operations that wait here, of all clients together, in round numbers; at least 1. Beyond, no
  /// request is read. Those of a client that does not read its replies do not count: they wait
  /// until it does.
  std::size_t queue_operations = 100'000;
  /// The longest result, in bytes as encoded; at least 1. A longer one is the error limit_exceeded.
  std::size_t max_result_bytes = std::size_t{32} << 20;
};

/// Whether an operation that may have been done can be done again.
enum class repeatable : std::uint8_t {
  no,         ///< at most once: where the instance that was asked is lost, the call fails
  idempotent, ///< another instance is asked then
};

/// How a client asks, and how much of it at a time.
struct remote_options {
  remote_mode mode = remote_mode::auto_;
  /// Of mode async: requests at a time; at least 1.
  std::size_t parallel = 32;
  /// Of modes pipeline and hybrid: operations sent and not answered; at least 1.
  std::size_t window_operations = 1'000;
  /// Of mode hybrid: operations in a request; at least 1.
  std::size_t bulk_operations = 100;
  /// The longest argument, and of arguments in one request the most, in bytes as encoded; one
  /// argument always has room. A longer one is the error limit_exceeded.
  std::size_t max_request_bytes = std::size_t{8} << 20;
  /// `submit` waits while so many operations are not finished; at least 1.
  std::size_t max_unfinished = 100'000;
  /// Of calls that have no timeout of their own; more than 0.
  std::chrono::nanoseconds timeout = std::chrono::seconds{30};
  /// So many instances an idempotent operation may be lost with before the call fails.
  unsigned max_losses = 3;
  /// An instance from which nothing comes for so long is lost; more than 0.
  std::chrono::nanoseconds liveness_timeout = std::chrono::seconds{10};
};

/// What a client has measured. Nothing known yet: 0.
struct remote_conditions {
  std::chrono::nanoseconds latency{0};   ///< there and back, without the time in the server
  std::chrono::nanoseconds operation{0}; ///< a handler, on average
  double argument_bytes = 0;             ///< as encoded, on average
  double result_bytes = 0;               ///< as encoded, on average
};

/// How operations travel: any of the modes is a bulk size and a window.
struct remote_plan {
  remote_mode mode = remote_mode::sync;
  std::size_t bulk_operations = 1;   ///< in a request, at most
  std::size_t window_operations = 1; ///< sent and not answered
};

/// One client. `submitted == done + failed + unfinished`.
struct remote_counters {
  std::uint64_t submitted = 0;
  std::uint64_t done = 0;     ///< with a result
  std::uint64_t failed = 0;   ///< with an error, those of handlers included
  std::uint64_t requests = 0; ///< messages that carried operations
  std::uint64_t repeated = 0; ///< operations given to another instance
  std::uint64_t refused = 0;  ///< messages of others that were malformed or came too late
};

/// One instance of a service.
struct service_counters {
  std::uint64_t requests = 0;   ///< messages that carried operations
  std::uint64_t operations = 0; ///< done, with a result or an error
  std::uint64_t failed = 0;     ///< of those, with an error
  std::uint64_t cancelled = 0;  ///< given up by the client before they began
  std::uint64_t refused = 0;    ///< messages that were malformed, or came again
};

} // namespace pubsub
