// What Python's VersionedGroup, Replica and VersionedMessage hold.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <condition_variable>
#include <deque>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <pubsub/pattern/versioned.hpp>

#include "resident.hpp"

namespace pubsub::python {

/// A new MessageVersion; None for number 0.
py::object to_python(const message_version& x);

/// The functions of a replica's state. They are called without the GIL, and take it; what they
/// raise is kept for the thread that called `get`.
class state_functions {
public:
  state_functions(py::object snapshot, py::object restore)
      : snapshot_(std::move(snapshot)), restore_(std::move(restore)) {}
  /// With the GIL or without it.
  ~state_functions();

  bool has_snapshot() const { return !snapshot_.is_none(); }
  bool has_restore() const { return !restore_.is_none(); }
  data take_snapshot();
  void restore(const data_view& state, const message_version& at);
  /// Raises what a function has raised; with the GIL held.
  void check();

private:
  py::object snapshot_; // guarded by the GIL, as the rest
  py::object restore_;
  std::exception_ptr failure_;
};

/// Members are called with the GIL held; waiting happens without it, and Ctrl-C ends it.
class replica_handle : public resident<replica> {
public:
  replica_handle(std::shared_ptr<pubsub::endpoint> owner, const std::string& name,
                 const replica_options& options, std::shared_ptr<state_functions> functions);

  /// Nothing at the deadline. Raises Closed once closed, or why it has closed by itself.
  std::optional<versioned_message> get(std::optional<double> timeout);
  /// As `get`, but raises StopIteration once closed.
  versioned_message next();
  /// None at the deadline.
  std::vector<versioned_message> get_batch(std::size_t max, std::optional<double> timeout);
  bool wait_ready(std::optional<double> timeout);
  void close();

private:
  received<std::vector<versioned_message>> take(std::size_t max, std::optional<double> timeout);
  void raise_failure() const;

  std::shared_ptr<state_functions> functions_;
};

/// As above. One of the threads that wait takes completions for all.
class versioned_group_handle : public resident<versioned_group> {
public:
  versioned_group_handle(std::shared_ptr<pubsub::endpoint> owner, const std::string& name,
                         const versioned_group_options& options);

  message_version send(PyObject* value);
  std::uint64_t post(PyObject* value);
  void send_pending();
  std::size_t drain(std::optional<double> timeout);
  std::vector<versioned_completion> take_completions(std::optional<double> timeout);
  bool wait_for_replicas(std::size_t n, std::optional<double> timeout);
  void close();

private:
  std::uint64_t post_when_there_is_room(std::span<const std::byte> value, bool awaited);
  void check() const;
  void sort_what_is_here();
  /// Without the GIL: takes completions, or waits until another thread has, until `done()`; then
  /// true. `done` is called under the lock.
  template <class Done>
  bool pump(std::chrono::nanoseconds timeout, Done done);
  void sort_in(std::vector<versioned_completion> some);

  completion_reports reports_;
  std::size_t window_;

  std::mutex mutex_; // guards all below; never taken with the GIL held
  std::condition_variable came_;
  bool taking_ = false;
  std::set<std::uint64_t> awaited_; // by `send`
  std::map<std::uint64_t, versioned_completion> arrived_;
  std::deque<versioned_completion> reported_;
};

} // namespace pubsub::python
