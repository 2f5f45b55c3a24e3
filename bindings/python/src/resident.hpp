// Something that lives at an endpoint, as Python holds it: it keeps the endpoint, and knows forks.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <optional>
#include <utility>

#include <pubsub/endpoint.hpp>

#include "raise.hpp"
#include "waiting.hpp"

namespace pubsub::python {

/// Made and asked with the GIL held, which is given up meanwhile: the locks of a `T` may be held
/// while Python code runs, or a thread be joined that wants the GIL. Destroyed with or without.
template <class T>
class resident {
public:
  template <class... Arguments>
  explicit resident(std::shared_ptr<pubsub::endpoint> owner, const Arguments&... arguments)
      : owner_(std::move(owner)) {
    if constexpr (requires { T::open(*owner_, arguments...); }) {
      it_.emplace(value_or_raise(open(arguments...)));
    } else {
      gil_free nogil;
      it_.emplace(*owner_, arguments...);
    }
  }
  ~resident() {
    if (fork_.crossed()) {
      abandon();
    } else if (PyGILState_Check() == 0) {
      reset();
    } else {
      gil_free nogil;
      reset();
    }
  }
  resident(const resident&) = delete;
  resident& operator=(const resident&) = delete;

  /// Raises ForkError in a forked child, which cannot use it.
  void check_fork() const { fork_.check(); }
  bool forked() const noexcept { return fork_.crossed(); }
  /// Never destroys it, such as in a forked child: its locks may be held by threads that exist in
  /// the parent only.
  void abandon() {
    new std::optional<T>(std::move(it_));
    new std::shared_ptr<pubsub::endpoint>(std::move(owner_));
  }

  /// For calls that are made without the GIL already.
  T& it() { return *it_; }
  const T& it() const { return *it_; }
  /// Calls `part` of it without the GIL. Raises ForkError.
  template <class Part>
  auto ask(Part part) const {
    fork_.check();
    gil_free nogil;
    return part(*it_);
  }
  template <class Part>
  auto ask(Part part) {
    fork_.check();
    gil_free nogil;
    return part(*it_);
  }

private:
  template <class... Arguments>
  expected<T> open(const Arguments&... arguments) {
    gil_free nogil;
    return T::open(*owner_, arguments...);
  }
  void reset() {
    it_.reset();
    owner_.reset();
  }

  fork_guard fork_;
  std::shared_ptr<pubsub::endpoint> owner_;
  std::optional<T> it_;
};

} // namespace pubsub::python
