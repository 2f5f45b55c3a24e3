// SPDX-License-Identifier: BSD-3-Clause
#include "publisher_handle.hpp"

#include <algorithm>

#include <pubsub/topic.hpp>

#include "encode.hpp"
#include "raise.hpp"

namespace pubsub::python {

namespace {

// Items of a batch between two offers of the GIL to other threads.
constexpr std::size_t items_per_turn = 1024;

PyObject* outcome_to_python(publish_result x) {
  return new_ref(types.publish_results[static_cast<int>(x)]);
}

} // namespace

publisher_handle::publisher_handle(std::shared_ptr<pubsub::endpoint> owner,
                                   std::shared_ptr<std::atomic<bool>> closed, std::string topic)
    : topic_(std::move(topic)), owner_(std::move(owner)), closed_(std::move(closed)) {
  if (is_reserved_topic(topic_))
    raise(types.invalid_argument, "topics that contain <$> are reserved: " + topic_);
  if (topic_.size() > topic::max_size_bytes)
    raise(types.invalid_argument,
          "a topic has at most 65,535 bytes, not " + std::to_string(topic_.size()));
  publisher_.emplace(owner_->make_publisher(topic_));
}

publisher_handle::~publisher_handle() {
  if (fork_.crossed()) { // its locks may be held by threads that exist in the parent only
    new std::optional<publisher>(std::move(publisher_));
    new std::shared_ptr<pubsub::endpoint>(std::move(owner_));
    return;
  }
  gil_free nogil;
  publisher_.reset();
  owner_.reset();
}

PyObject* publisher_handle::publish(PyObject* value, std::optional<double> timeout) {
  fork_.check();
  scratch_writer out;
  encode(value, *out);
  auto result = send(out->bytes(), timeout);
  if (result == publish_result::refused)
    raise_refused(out->size_bytes());
  return outcome_to_python(result);
}

PyObject* publisher_handle::try_publish(PyObject* value) {
  fork_.check();
  scratch_writer out;
  encode(value, *out);
  auto result = try_send(out->bytes());
  if (result == publish_result::refused)
    raise_refused(out->size_bytes());
  return outcome_to_python(result);
}

std::size_t publisher_handle::publish_batch(const py::iterable& iterable) {
  fork_.check();
  scratch_writer out;
  std::size_t n = 0;
  for (auto item : iterable) {
    out->clear();
    encode(item.ptr(), *out);
    if (send(out->bytes()) == publish_result::refused)
      raise_refused(out->size_bytes());
    if (++n % items_per_turn == 0) {
      { gil_free others; }
      handle_signals();
    }
  }
  return n;
}

std::size_t publisher_handle::subscribers() {
  fork_.check();
  return owner_->subscribers(topic_);
}

bool publisher_handle::wait_for_subscribers(std::size_t n, std::optional<double> timeout) {
  fork_.check();
  return wait_for(deadline(timeout),
                  [&](auto left) { return owner_->wait_for_subscribers(topic_, n, left); });
}

publish_result publisher_handle::try_send(std::span<const std::byte> value) {
  auto lock = lock_before(publishing_, deadline(std::nullopt));
  return publisher_->try_publish(value);
}

publish_result publisher_handle::send(std::span<const std::byte> value,
                                      std::optional<double> timeout) {
  const deadline until(timeout);
  bool tried = false;
  if (auto lock = lock_before(publishing_, until)) {
    tried = true;
    const auto result = publisher_->try_publish(value);
    if (result != publish_result::would_block)
      return result;
  }
  return wait_for_room(value, until, tried);
}

// The lock is not held while signals are handled: a handler may publish here too.
publish_result publisher_handle::wait_for_room(std::span<const std::byte> value,
                                               const deadline& until, bool tried) {
  auto result = publish_result::would_block;
  wait_for(until, [&](std::chrono::nanoseconds left) {
    std::unique_lock lock(publishing_, left);
    if (!lock)
      return false; // another thread waits for room
    retries_ += std::exchange(tried, true) ? 1 : 0;
    result = publisher_->publish_for(value, until.slice(left));
    return result != publish_result::would_block;
  });
  return result;
}

publisher_counters publisher_handle::counters() {
  fork_.check();
  const auto retries = retries_.load();
  auto result = publisher_->counters();
  result.would_block -= std::min(retries, result.would_block);
  return result;
}

void publisher_handle::raise_refused(std::size_t size_bytes) const {
  if (*closed_)
    raise(types.closed, "the endpoint is closed");
  raise(types.limit_exceeded,
        "a message of " + std::to_string(size_bytes) +
            " bytes is longer than a frame may be, or the endpoint is closed");
}

} // namespace pubsub::python
