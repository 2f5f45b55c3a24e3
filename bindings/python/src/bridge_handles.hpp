// What Python's BridgeSink and BridgeSource hold.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <pubsub/bridge/sink.hpp>
#include <pubsub/bridge/source.hpp>

#include "resident.hpp"

namespace pubsub::python {

/// A sink or a source. Members are called with the GIL held; waiting happens without it, and Ctrl-C
/// ends it.
template <class T>
class bridge_handle {
public:
  /// Raises what `T::open` returns.
  template <class Options>
  bridge_handle(std::shared_ptr<pubsub::endpoint> owner, const bridge::engine& engine,
                const Options& options)
      : at_(std::make_shared<resident<T>>(std::move(owner), engine, options)) {}

  bridge::bridge_counters counters() const {
    return at_->ask([](const T& x) { return x.counters(); });
  }
  bool closed() const {
    return at_->ask([](const T& x) { return x.closed(); });
  }
  error failure() const {
    return at_->ask([](const T& x) { return x.failure(); });
  }
  std::string last_problem() const {
    return at_->ask([](const T& x) { return x.last_problem(); });
  }
  bool forked() const noexcept { return at_->forked(); }
  /// Interrupted, it goes on being closed.
  void close() {
    at_->check_fork();
    run_interruptibly([at = at_] { at->it().close(); });
  }

protected:
  const std::shared_ptr<resident<T>>& at() const noexcept { return at_; }

private:
  std::shared_ptr<resident<T>> at_; // shared with calls that were interrupted
};

class bridge_sink_handle : public bridge_handle<bridge::sink> {
public:
  using bridge_handle::bridge_handle;

  bool wait_ready(std::optional<double> timeout);
  std::size_t drain(std::optional<double> timeout);
};

class bridge_source_handle : public bridge_handle<bridge::source> {
public:
  using bridge_handle::bridge_handle;

  bool wait_end(std::optional<double> timeout);
};

} // namespace pubsub::python
