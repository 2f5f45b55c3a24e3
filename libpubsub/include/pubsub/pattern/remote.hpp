// Remote execution that hides latency: named operations, and clients that call them.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <concepts>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

#include <pubsub/data.hpp>
#include <pubsub/data_view.hpp>
#include <pubsub/data_writer.hpp>
#include <pubsub/endpoint.hpp>
#include <pubsub/error.hpp>
#include <pubsub/export.hpp>
#include <pubsub/pattern/remote_options.hpp>
#include <pubsub/publishable.hpp>
#include <pubsub/received.hpp>

namespace pubsub {

namespace pattern {
class remote_core;
class service_core;
struct remote_call;
struct remote_connections;
} // namespace pattern

/// Takes the argument, which is valid during the call; returns the result, or an error that is
/// carried to the caller with code and context. An exception becomes `operation_failed` with the
/// context `<type>: <text>`. Called from as many threads at a time as there are workers.
using operation_handler = std::function<expected<data>(const data_view& argument)>;
/// The same, but writes one value in bin::v1: no tree is built.
using writing_handler =
    std::function<expected<void>(const data_view& argument, data_writer& result)>;

/// One instance of a service: named operations that clients anywhere within reach can call. Any
/// number of instances may have one name; they share the load, and have the same operations.
/// Thread-safe. Shares the core of the endpoint, which may be moved or destroyed.
class PUBSUB_EXPORT service {
public:
  /// Makes an instance that has no operations yet. Does not block. Errors: invalid_argument, an
  /// option is out of range; shutting_down, the endpoint is closed.
  [[nodiscard]] static expected<service> open(const endpoint& at, std::string_view name,
                                              const service_options& options = {});
  service(service&&) noexcept;
  service& operator=(service&&) noexcept;
  /// Closes.
  ~service();

  /// Adds an operation, or replaces that of the same name. To be called before `start`, so that no
  /// client learns that there is no such operation. Errors: invalid_argument, the name or the
  /// handler is empty, or the service has been started.
  [[nodiscard]] expected<void> add(std::string_view operation, operation_handler handler,
                                   repeatable repeat = repeatable::no);
  [[nodiscard]] expected<void> add(std::string_view operation, writing_handler handler,
                                   repeatable repeat = repeatable::no);
  /// Takes calls from now on. Idempotent. Errors: shutting_down, the service or its endpoint is
  /// closed.
  [[nodiscard]] expected<void> start();

  /// Clients that are known here and within reach.
  std::size_t clients() const;
  service_counters counters() const;

  /// Gives back what has not begun: clients ask other instances. Blocks until handlers that run
  /// have ended, and so is not to be called by a handler. Idempotent.
  void close();
  bool closed() const;

private:
  explicit service(std::shared_ptr<pattern::service_core> core) noexcept;

  std::shared_ptr<pattern::service_core> core_;
};

/// A result that is on its way. Always completes: with the result, the error of the handler, or
/// no_such_service, no_such_operation, request_timeout, service_lost, cancelled, limit_exceeded,
/// shutting_down. After request_timeout, service_lost, cancelled and shutting_down the operation
/// may have been done. Thread-safe; copies share the result, and destroying a future changes
/// nothing.
class PUBSUB_EXPORT remote_future {
public:
  remote_future() = default;

  /// False if made without a call: then no other member may be called.
  bool valid() const noexcept { return call_ != nullptr; }
  /// The call is complete. Never blocks.
  bool ready() const;
  /// The result. Blocks until the call is complete, which its timeout bounds.
  [[nodiscard]] expected<data> get() const;
  /// The result, or `timeout` if the call is not complete in time; it goes on then.
  [[nodiscard]] received<expected<data>> get_for(std::chrono::nanoseconds timeout) const;
  /// The result without building a tree, valid as long as the future or a copy of it is. Blocks as
  /// `get`.
  [[nodiscard]] expected<data_view> view() const;
  /// Waits until the call is complete. False at the timeout.
  [[nodiscard]] bool wait_for(std::chrono::nanoseconds timeout) const;
  /// Calls `then` once the call is complete: at once, or later on the thread that completes it,
  /// which holds the lock of the client. So `then` is short, does not throw, and calls no member of
  /// the client.
  void when_ready(std::function<void()> then) const;
  /// Completes the call with `cancelled`; the instance drops the operation if it has not begun it.
  /// False if the call was complete before.
  bool cancel();

private:
  friend class remote;
  remote_future(std::shared_ptr<pattern::remote_core> core,
                std::shared_ptr<pattern::remote_call> call) noexcept
      : core_(std::move(core)), call_(std::move(call)) {}

  std::shared_ptr<pattern::remote_core> core_;
  std::shared_ptr<pattern::remote_call> call_;
};

/// Arguments of several calls: values, or valid bin::v1, one value behind the other. Made from a
/// container of either where a function takes one, and refers to it.
class encodable_list {
public:
  template <std::convertible_to<std::span<const data>> T>
  encodable_list(const T& values) : form_(std::span<const data>{values}) {}
  template <std::convertible_to<std::span<const std::byte>> T>
  encodable_list(const T& encoded) : form_(std::span<const std::byte>{encoded}) {}

  /// The bytes; null if these are values.
  const std::span<const std::byte>* encoded() const noexcept {
    return std::get_if<std::span<const std::byte>>(&form_);
  }
  /// Only where they are not encoded.
  std::span<const data> values() const { return std::get<std::span<const data>>(form_); }

private:
  std::variant<std::span<const data>, std::span<const std::byte>> form_;
};

/// A client of a service: of all instances within reach. Operations are done at most once, unless
/// they are declared idempotent. Thread-safe. Shares the core of each endpoint, which may be moved
/// or destroyed. Arguments that are encoded already must be valid.
class PUBSUB_EXPORT remote {
public:
  /// Begins to look for instances; does not block. `more`: endpoints with connections of their own,
  /// among which calls are dealt out in mode async, and in mode auto where results are long; all
  /// share the limits of the options. Errors: invalid_argument, an option is out of range;
  /// shutting_down, an endpoint is closed.
  [[nodiscard]] static expected<remote> open(const endpoint& at, std::string_view service_name,
                                             const remote_options& options = {},
                                             std::span<const endpoint* const> more = {});
  remote(remote&&) noexcept;
  remote& operator=(remote&&) noexcept;
  /// Closes without waiting.
  ~remote();

  /// Calls an operation. Blocks until its result is here, at most for the timeout of the options or
  /// the one given. Errors: as `remote_future`.
  [[nodiscard]] expected<data> call(std::string_view operation, const encodable& argument) {
    return submit(operation, argument).get();
  }
  [[nodiscard]] expected<data> call_for(std::string_view operation, const encodable& argument,
                                        std::chrono::nanoseconds timeout) {
    return submit_for(operation, argument, timeout).get();
  }
  /// Calls an operation. Blocks only while there is no room (`max_unfinished`).
  remote_future submit(std::string_view operation, const encodable& argument);
  remote_future submit_for(std::string_view operation, const encodable& argument,
                           std::chrono::nanoseconds timeout);

  /// Calls an operation once for each argument, with the timeout of the options. Does not block,
  /// whatever `max_unfinished` is. Futures are in the order of the arguments.
  std::vector<remote_future> submit_all(std::string_view operation, const encodable_list& arguments,
                                        grouping how = grouping::by_mode);
  /// The same, and blocks until all results are here.
  [[nodiscard]] std::vector<expected<data>> map(std::string_view operation,
                                                const encodable_list& arguments,
                                                grouping how = grouping::by_mode);

  /// Sends what was submitted as soon as the mode allows, without waiting for more calls that could
  /// go in the same request. Never blocks.
  void send_pending();
  /// Blocks until no call is unfinished, or the timeout; returns how many are.
  [[nodiscard]] std::size_t drain(std::chrono::nanoseconds timeout);

  /// Blocks until so many instances are known and within reach: before, a call may fail with
  /// no_such_service. False at the timeout, or once closed.
  [[nodiscard]] bool wait_for_instances(std::size_t n, std::chrono::nanoseconds timeout) const;
  /// Instances that are known and within reach.
  std::size_t instances() const;
  /// Calls that are not complete.
  std::size_t unfinished() const;
  /// What it has measured of the way to its instances.
  remote_conditions conditions() const;
  /// How operations travel now.
  remote_plan plan() const;
  remote_counters counters() const;

  /// Completes what is unfinished with `shutting_down`. Idempotent.
  void close();
  bool closed() const;

private:
  explicit remote(std::unique_ptr<pattern::remote_connections> connections) noexcept;
  remote_future start_call(std::string_view operation, const encodable& argument,
                           std::optional<std::chrono::nanoseconds> timeout);

  std::unique_ptr<pattern::remote_connections> connections_;
};

} // namespace pubsub
