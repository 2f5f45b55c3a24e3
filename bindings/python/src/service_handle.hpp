// What Python's Service holds.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <pubsub/pattern/remote.hpp>

#include "resident.hpp"

namespace pubsub::python {

/// A Python function that handles an operation. Called without the GIL, by workers; takes it.
class operation_function {
public:
  /// `failed(name, exception)` returns the text of the error that the caller gets.
  operation_function(std::string name, py::object function, py::object failed)
      : name_(std::move(name)), function_(std::move(function)), failed_(std::move(failed)) {}
  /// With or without the GIL.
  ~operation_function();
  operation_function(const operation_function&) = delete;
  operation_function& operator=(const operation_function&) = delete;

  expected<void> operator()(const data_view& argument, data_writer& result);
  /// With the GIL held, after the last call: the function may refer to its own service.
  void forget();

private:
  std::string describe(py::error_already_set& failure) const;

  const std::string name_;
  py::object function_; // guarded by the GIL, as the next
  py::object failed_;
};

/// Members are called with the GIL held; waiting happens without it, and Ctrl-C ends it.
class service_handle {
public:
  service_handle(std::shared_ptr<pubsub::endpoint> owner, const std::string& name,
                 const service_options& options, py::object failed);
  /// Waits for handlers that run, unless it is one of them that drops it.
  ~service_handle();

  void add(const std::string& name, py::object function, bool idempotent);
  void start();
  /// Returns whether all handlers have ended. Raises InvalidArgument in one of them.
  bool close(std::optional<double> timeout);

  const resident<service>& at() const { return *at_; }

private:
  bool in_handler() const;

  py::object failed_;
  std::shared_ptr<resident<service>> at_; // shared with closes that go on in the background
  std::vector<std::shared_ptr<operation_function>> functions_;
};

} // namespace pubsub::python
