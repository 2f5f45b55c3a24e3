// What Python reads events from: one thread at a time waits, others take turns.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include <poll.h>

#include <pubsub/endpoint.hpp>

#include "raise.hpp"
#include "waiting.hpp"

namespace pubsub::python {

/// The consuming end of events of an endpoint: a status_subscriber or a network_subscriber. Members
/// are called with the GIL held.
template <class Source, class Event>
class event_handle {
public:
  event_handle(std::shared_ptr<pubsub::endpoint> owner, Source events)
      : owner_(std::move(owner)), events_(std::move(events)), fd_(events_->fd()) {}
  /// After a fork nothing is done: everything belongs to the parent.
  ~event_handle() {
    if (!fork_.crossed())
      return;
    new std::optional<Source>(std::move(events_));
    new std::shared_ptr<pubsub::endpoint>(std::move(owner_));
  }
  event_handle(const event_handle&) = delete;
  event_handle& operator=(const event_handle&) = delete;

  /// Nothing on time-out. Raises Closed at the end.
  std::optional<Event> get(std::optional<double> timeout) {
    deadline until(timeout);
    if (auto event = wait(until))
      return event;
    if (closed())
      raise(types.closed, "there are no more events: the endpoint, or what reads them, is closed");
    return std::nullopt;
  }
  Event next() {
    auto event = wait(deadline(std::nullopt));
    if (!event)
      throw py::stop_iteration();
    return std::move(*event);
  }
  std::optional<Event> next_nowait() {
    auto event = take(std::chrono::nanoseconds{0});
    if (!event && closed())
      throw py::stop_iteration();
    return event;
  }
  /// Everything that is there.
  std::vector<Event> poll() {
    fork_.check();
    std::vector<Event> result;
    if (std::unique_lock lock(consuming_, std::try_to_lock); lock)
      while (auto event = events_->try_get())
        result.push_back(std::move(*event));
    return result;
  }
  int fd() const {
    fork_.check();
    return fd_;
  }
  /// Readable without an event. While another thread reads, it finds out.
  bool closed() {
    fork_.check();
    std::unique_lock lock(consuming_, std::try_to_lock);
    if (!lock || events_->available())
      return false;
    pollfd p{fd_, POLLIN, 0};
    return ::poll(&p, 1, 0) == 1 && !events_->available();
  }

protected:
  fork_guard fork_;

private:
  std::optional<Event> take(std::chrono::nanoseconds left) {
    fork_.check();
    std::unique_lock lock(consuming_, std::defer_lock);
    if (!lock.try_lock_for(left))
      return std::nullopt;
    auto event = events_->get_for(left);
    return event ? std::optional{std::move(*event)} : std::nullopt;
  }
  std::optional<Event> wait(const deadline& until) {
    fork_.check();
    std::optional<Event> result;
    wait_for(until, [&](auto left) {
      result = take(left);
      return result || closed();
    });
    return result;
  }

  std::shared_ptr<pubsub::endpoint> owner_;

protected:
  std::optional<Source> events_;

private:
  const int fd_;
  std::timed_mutex consuming_; // makes one thread the consumer; never held while Python code runs
};

} // namespace pubsub::python
