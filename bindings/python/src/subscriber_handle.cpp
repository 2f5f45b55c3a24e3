// SPDX-License-Identifier: BSD-3-Clause
#include "subscriber_handle.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "message.hpp"
#include "raise.hpp"

namespace pubsub::python {

namespace {

constexpr std::size_t iteration_batch = 1024; // messages taken at once by an iteration

} // namespace

subscriber_handle::subscriber_handle(std::shared_ptr<pubsub::endpoint> owner, filter topics,
                                     const queue_options& options,
                                     const std::optional<condition>& where)
    : owner_(std::move(owner)),
      subscriber_(!where ? owner_->make_subscriber(std::move(topics), options)
                         : owner_->make_subscriber(std::move(topics), *where, options)) {}

subscriber_handle::~subscriber_handle() {
  if (fork_.crossed()) { // its locks may be held by threads that exist in the parent only
    new std::optional<subscriber>(std::move(subscriber_));
    new std::shared_ptr<pubsub::endpoint>(std::move(owner_));
    return;
  }
  gil_free nogil;
  subscriber_.reset();
  owner_.reset();
}

PyObject* subscriber_handle::next() {
  fork_.check();
  if (pending() == 0 && wait_for_message(deadline(std::nullopt), iteration_batch) == outcome::ended)
    return nullptr;
  return take_pending();
}

PyObject* subscriber_handle::next_nowait() {
  fork_.check();
  if (pending() != 0 || prefetch(iteration_batch))
    return take_pending();
  return ended() ? nullptr : new_ref(Py_None);
}

PyObject* subscriber_handle::get(std::optional<double> timeout) {
  fork_.check();
  switch (wait_for_message(deadline(timeout), 1)) {
  case outcome::ended:
    raise(types.closed, "the subscriber is closed and drained");
  case outcome::timed_out:
    return new_ref(Py_None);
  case outcome::message:
    break;
  }
  return take_pending();
}

PyObject* subscriber_handle::get_batch(std::size_t max, std::optional<double> timeout) {
  fork_.check();
  auto result = py::reinterpret_steal<py::object>(checked(PyList_New(0)));
  if (max == 0)
    return result.release().ptr();
  if (wait_for_message(deadline(timeout), max) == outcome::ended)
    raise(types.closed, "the subscriber is closed and drained");
  if (pending() < max)
    prefetch(max - pending());
  for (auto n = std::min(max, pending()); n > 0; --n) {
    auto message = py::reinterpret_steal<py::object>(take_pending());
    if (PyList_Append(result.ptr(), message.ptr()) != 0)
      throw py::error_already_set();
  }
  return result.release().ptr();
}

PyObject* subscriber_handle::poll() {
  constexpr auto everything = static_cast<std::size_t>(-1);
  fork_.check();
  prefetch(everything);
  return pending() != 0 ? get_batch(everything, 0.0) : checked(PyList_New(0));
}

int subscriber_handle::fd() const {
  fork_.check();
  return subscriber_->fd();
}

std::size_t subscriber_handle::available() const {
  fork_.check();
  return pending() + subscriber_->available();
}

void subscriber_handle::add_topic(const std::string& prefix) {
  fork_.check();
  gil_free nogil;
  subscriber_->add_topic(prefix);
}

void subscriber_handle::remove_topic(const std::string& prefix) {
  fork_.check();
  gil_free nogil;
  subscriber_->remove_topic(prefix);
}

std::vector<std::string> subscriber_handle::topics() const {
  fork_.check();
  auto topics = subscriber_->filter();
  return {topics.begin(), topics.end()};
}

bool subscriber_handle::wait_ready(std::optional<double> timeout) {
  fork_.check();
  const pubsub::python::deadline until(timeout);
  std::optional<readiness> known;
  {
    gil_free nogil;
    known = subscriber_->begin_ready();
  }
  wait_for(until, [&](auto left) { return known->wait_for(left) || known->closed(); });
  return known->ready();
}

std::unique_ptr<readiness_handle> subscriber_handle::begin_ready() {
  fork_.check();
  gil_free nogil;
  return std::make_unique<readiness_handle>(subscriber_->begin_ready());
}

subscriber_counters subscriber_handle::counters() const {
  fork_.check();
  auto result = subscriber_->counters();
  result.delivered -= pending() + discarded_;
  result.queued += pending();
  result.dropped_closed += discarded_;
  return result;
}

bool subscriber_handle::closed() const {
  fork_.check();
  return subscriber_->closed();
}

void subscriber_handle::close() {
  fork_.check();
  {
    gil_free nogil;
    subscriber_->close();
  }
  discarded_ += pending();
  pending_.clear();
  position_ = 0;
}

PyObject* subscriber_handle::take_pending() {
  auto* result = make_message(std::move(pending_[position_]));
  ++position_;
  if (position_ == pending_.size()) {
    pending_.clear();
    position_ = 0;
  }
  return result;
}

// Moves fresh_ to the end of pending_. Call with the GIL and the lock.
void subscriber_handle::add_pending() {
  if (pending_.empty())
    std::swap(pending_, fresh_);
  else
    pending_.insert(pending_.end(), std::make_move_iterator(fresh_.begin()),
                    std::make_move_iterator(fresh_.end()));
  fresh_.clear();
}

// Takes what is there, at most `max`, without waiting; nothing if another thread is the consumer.
// Returns whether any message is pending.
bool subscriber_handle::prefetch(std::size_t max) {
  std::unique_lock lock(consuming_, std::try_to_lock);
  if (lock) {
    (void)subscriber_->get_batch_for(fresh_, max, std::chrono::nanoseconds{0});
    add_pending();
  }
  return pending() != 0;
}

// Waits for messages without the GIL. Returns true once nothing can come any more.
bool subscriber_handle::pull(std::size_t max, std::chrono::nanoseconds left) {
  std::unique_lock lock(consuming_, std::defer_lock);
  bool end = false;
  {
    gil_free nogil;
    auto until = deadline::clock::now() + left;
    if (lock.try_lock_until(until)) {
      auto rest = std::max(until - deadline::clock::now(), deadline::clock::duration{0});
      end = subscriber_->get_batch_for(fresh_, max, rest) == receive_status::closed;
    }
  }
  if (lock)
    add_pending();
  return end;
}

subscriber_handle::outcome subscriber_handle::wait_for_message(const deadline& until,
                                                               std::size_t max) {
  if (pending() != 0 || prefetch(max))
    return outcome::message;
  for (;;) {
    auto end = pull(max, until.slice(longest_wait()));
    if (pending() != 0)
      return outcome::message;
    if (end)
      return outcome::ended;
    handle_signals();
    if (pending() != 0) // a signal handler may have left some
      return outcome::message;
    if (until.passed())
      return outcome::timed_out;
  }
}

bool subscriber_handle::ended() const {
  return subscriber_->closed() && subscriber_->available() == 0;
}

} // namespace pubsub::python
