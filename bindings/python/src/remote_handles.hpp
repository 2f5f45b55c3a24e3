// What Python's Remote, RemoteFuture and CompletionQueue hold.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <pubsub/pattern/remote.hpp>

#include "resident.hpp"

namespace pubsub::python {

/// Members are called with the GIL held; waiting happens without it, and Ctrl-C ends it.
class remote_future_handle {
public:
  remote_future_handle(std::shared_ptr<resident<remote>> at, remote_future it)
      : at_(std::move(at)), it_(std::move(it)) {}
  ~remote_future_handle();

  bool done() const { return it_.ready(); }
  /// A new reference. Raises the error of the call, or Timeout.
  PyObject* result(std::optional<double> timeout) const;
  /// What `result` would raise; None if that would return.
  py::object exception(std::optional<double> timeout) const;
  bool cancelled() const;
  bool cancel();
  void when_ready(std::function<void()> then) const;

private:
  void wait(std::optional<double> timeout) const;

  std::shared_ptr<resident<remote>> at_;
  remote_future it_;
};

using future_list = std::vector<std::unique_ptr<remote_future_handle>>;

class remote_handle {
public:
  using endpoint_list = std::vector<std::shared_ptr<pubsub::endpoint>>;

  /// `more`: endpoints for further connections.
  remote_handle(std::shared_ptr<pubsub::endpoint> owner, const std::string& service,
                const remote_options& options, const endpoint_list& more);

  PyObject* call(std::string_view operation, PyObject* argument, std::optional<double> timeout);
  std::unique_ptr<remote_future_handle> submit(std::string_view operation, PyObject* argument,
                                               std::optional<double> timeout);
  future_list submit_all(std::string_view operation, const py::iterable& arguments, bool in_bulk);
  /// Results, or with `return_exceptions` exceptions, in the order of the arguments.
  py::list map(std::string_view operation, const py::iterable& arguments, bool in_bulk,
               bool return_exceptions);

  void send_pending();
  std::size_t drain(std::optional<double> timeout);
  bool wait_for_instances(std::size_t n, std::optional<double> timeout);
  void close();
  const resident<remote>& at() const { return *at_; }

private:
  void check() const;
  void wait_for_room();
  remote_future begin(std::string_view operation, PyObject* argument,
                      std::optional<double> timeout);
  std::vector<remote_future> begin_all(std::string_view operation, const py::iterable& arguments,
                                       bool in_bulk);

  std::shared_ptr<resident<remote>> at_; // shared with futures
  const std::size_t max_unfinished_;
  std::size_t room_ = 0; // so many can be submitted without waiting, at least
};

/// Collects the keys of futures as they become ready. Members are called with the GIL held.
class completion_queue {
public:
  /// Raises ForkError.
  void add(const remote_future_handle& future, std::uint64_t key);
  /// Keys that were not taken yet, in the order in which their futures became ready; waits for the
  /// first. Empty at the deadline.
  std::vector<std::uint64_t> take(std::optional<double> timeout);
  /// A descriptor that is readable while there are keys.
  int fd();

private:
  struct keys {
    std::mutex mutex; // guards all below; never held across a wait for the GIL
    std::condition_variable came;
    std::vector<std::uint64_t> list;
    int fd = -1; // made when it is asked for

    ~keys();
    void push(std::uint64_t key);
    std::vector<std::uint64_t> take();
  };

  std::shared_ptr<keys> keys_ = std::make_shared<keys>(); // shared with what futures will call
};

} // namespace pubsub::python
