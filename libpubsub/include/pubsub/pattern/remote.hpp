// Remote execution that hides latency: named operations, and clients that call them.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include <pubsub/data.hpp>
#include <pubsub/data_view.hpp>
#include <pubsub/data_writer.hpp>
#include <pubsub/endpoint.hpp>
#include <pubsub/error.hpp>
#include <pubsub/pattern/remote_options.hpp>

namespace pubsub {

namespace pattern {
class remote_core;
class remote_ways;
class service_core;
struct remote_call;
} // namespace pattern

/// Takes the argument, which is valid during the call; returns the result, or an error that is
/// carried to the caller with code and context. An exception becomes `operation_failed` with the
/// context `<type>: <text>`. Called from as many threads at a time as there are workers.
using operation_handler = std::function<expected<data>(const data_view& argument)>;
/// The same, but writes one value in bin::v1: no tree is built.
using encoded_handler =
    std::function<expected<void>(const data_view& argument, data_writer& result)>;

/// One instance of a service: named operations that clients anywhere within reach can call. Any
/// number of instances may have one name; they share the load, and have the same operations. Every
/// member from any thread. The endpoint must outlive it.
class service {
public:
  service(endpoint& at, std::string_view name, const service_options& options = {});
  service(service&&) noexcept;
  service& operator=(service&&) noexcept;
  /// Closes.
  ~service();

  /// Before `start`, so that no client is told that there is no such operation. One that is there
  /// is replaced. Errors: invalid_argument, the name is empty or it has been started.
  expected<void> add(std::string_view operation, operation_handler handler,
                     const operation_options& options = {});
  expected<void> add_encoded(std::string_view operation, encoded_handler handler,
                             const operation_options& options = {});
  /// Takes calls from now on.
  void start();

  /// Clients that are known here and within reach.
  std::size_t clients() const;
  service_counters counters() const;

  /// Waits for handlers that run; what has not begun is not done: clients are told, and ask other
  /// instances. Not to be called by a handler.
  void close();
  bool closed() const;

private:
  std::shared_ptr<pattern::service_core> core_;
};

/// A result that is on its way. Always completes: with the result, the error of the handler, or
/// no_such_service, no_such_operation, request_timeout, service_lost, cancelled, limit_exceeded,
/// shutting_down. After request_timeout, service_lost, cancelled and shutting_down the operation
/// may have been done. Movable; destroying it changes nothing. Every member from any thread.
class remote_future {
public:
  remote_future() = default;

  /// False if made without a call: then nothing else may be asked.
  bool valid() const noexcept { return call_ != nullptr; }
  /// It is complete.
  bool ready() const;
  /// Waits until it is complete, which the timeout of the call bounds.
  expected<data> get() const;
  /// Waits at most so long; nothing if it is not complete then.
  std::optional<expected<data>> get(std::chrono::nanoseconds timeout) const;
  /// As `get`; the value is valid as long as the future or a copy of it is.
  expected<data_view> view() const;
  /// Waits at most so long; whether it is complete.
  bool wait(std::chrono::nanoseconds timeout) const;
  /// Calls `then` once it is complete: at once, or later from whatever thread completes it. That
  /// one holds the lock of the client: `then` is short, does not throw, and asks nothing of the
  /// client.
  void when_ready(std::function<void()> then) const;
  /// Completes it with `cancelled`; the instance drops the operation if it has not begun it. False
  /// if it was complete before.
  bool cancel();

private:
  friend class remote;
  remote_future(std::shared_ptr<pattern::remote_core> core,
                std::shared_ptr<pattern::remote_call> call)
      : core_(std::move(core)), call_(std::move(call)) {}

  std::shared_ptr<pattern::remote_core> core_;
  std::shared_ptr<pattern::remote_call> call_;
};

/// A client of a service. Operations are done at most once, unless they are declared idempotent.
/// Every member from any thread. The endpoints must outlive it.
class remote {
public:
  /// `more`: in mode async operations go by these endpoints too, in turns, and in mode auto those
  /// with results whose transfer takes 60 us or more each, over links of less than 1 GB/s. Where
  /// each has a connection of its own, several carry more than one.
  /// Limits of the options are shared among all.
  remote(endpoint& at, std::string_view service_name, const remote_options& options = {},
         std::span<endpoint* const> more = {});
  remote(remote&&) noexcept;
  remote& operator=(remote&&) noexcept;
  /// Closes without waiting.
  ~remote();

  /// Calls an operation and waits for its result. Errors: as `remote_future`.
  expected<data> call(std::string_view operation, const data& argument);
  expected<data> call(std::string_view operation, const data& argument,
                      std::chrono::nanoseconds timeout);

  /// Calls an operation and returns as soon as there is room (`max_unfinished`).
  remote_future submit(std::string_view operation, const data& argument);
  remote_future submit(std::string_view operation, const data& argument,
                       std::chrono::nanoseconds timeout);
  /// The argument in bin::v1; must be valid.
  remote_future submit_encoded(std::string_view operation, std::span<const std::byte> argument);
  remote_future submit_encoded(std::string_view operation, std::span<const std::byte> argument,
                               std::chrono::nanoseconds timeout);

  /// Calls an operation once for each argument and waits for all; results in the order of the
  /// arguments.
  std::vector<expected<data>> map(std::string_view operation, std::span<const data> arguments);
  /// The same in one request to each instance, whatever the mode (`max_request_bytes`: several
  /// where arguments are long).
  std::vector<expected<data>> bulk(std::string_view operation, std::span<const data> arguments);
  /// The same without building trees: arguments in bin::v1, one behind the other; must be valid.
  std::vector<remote_future> map_encoded(std::string_view operation,
                                         std::span<const std::byte> arguments);
  std::vector<remote_future> bulk_encoded(std::string_view operation,
                                          std::span<const std::byte> arguments);

  /// What was submitted goes as soon as the mode allows, and does not wait for company.
  void flush();
  /// Waits until nothing is unfinished; returns how much is.
  std::size_t drain(std::chrono::nanoseconds timeout);

  /// Waits until so many instances are known and within reach: until then a call may be told that
  /// there is no such service.
  bool wait_for_instances(std::size_t n, std::chrono::nanoseconds timeout) const;
  std::size_t instances() const;
  std::size_t unfinished() const;
  remote_conditions conditions() const;
  /// How operations go now.
  remote_plan plan() const;
  remote_counters counters() const;

  /// What is unfinished completes with `shutting_down`.
  void close();
  bool closed() const;
  /// Why it has closed by itself: invalid_argument, an option. `none` if it has not.
  error failure() const;

private:
  std::shared_ptr<pattern::remote_ways> ways_;
};

} // namespace pubsub
