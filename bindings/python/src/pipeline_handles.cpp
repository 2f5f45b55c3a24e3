// SPDX-License-Identifier: BSD-3-Clause
#include "pipeline_handles.hpp"

#include "decode.hpp"
#include "encode.hpp"
#include "raise.hpp"

namespace pubsub::python {

// -- task ----------------------------------------------------------------------------------------

task_handle::~task_handle() {
  if (fork_.crossed()) { // its locks may be held by threads that exist in the parent only
    new std::optional<pubsub::task>(std::move(task_));
    return;
  }
  gil_free nogil;
  task_.reset();
}

const pubsub::task& task_handle::get() const {
  fork_.check();
  if (!task_)
    raise(types.invalid_argument, "the task was sent on with its result");
  return *task_;
}

PyObject* task_handle::value() {
  return to_python(get().value());
}

void task_handle::done() {
  get();
  gil_free nogil;
  task_->done();
}

void task_handle::reject() {
  get();
  gil_free nogil;
  task_->reject();
}

pubsub::task task_handle::release() {
  get();
  auto result = std::move(*task_);
  task_.reset();
  return result;
}

// -- exchange ------------------------------------------------------------------------------------

void exchange_handle::check() const {
  check_fork();
  if (const auto why = it().failure())
    raise(why);
  if (it().closed())
    raise(types.closed, "the exchange is closed");
}

void exchange_handle::bind(const std::string& queue) {
  check();
  if (queue.empty())
    raise(types.invalid_argument, "a queue without a name cannot be bound: it binds itself");
  gil_free nogil;
  it().bind(queue);
}

bool exchange_handle::send(PyObject* value, std::optional<double> timeout) {
  check();
  scratch_writer out;
  encode(value, *out);
  expected<void> sent;
  wait_for(deadline(timeout), [&](auto left) {
    sent = it().send_for(out->bytes(), left);
    return sent || sent.error() != errc::request_timeout;
  });
  if (!sent && sent.error() != errc::request_timeout)
    raise(sent.error());
  return sent.has_value();
}

/// The window of a stage is that of its sources, so this does not wait long.
void exchange_handle::send_result(PyObject* value, task_handle& of) {
  check();
  scratch_writer out;
  encode(value, *out);
  expected<void> sent;
  {
    auto task = of.release();
    gil_free nogil;
    sent = it().send(out->bytes(), std::move(task));
  }
  value_or_raise(sent);
}

void exchange_handle::send_pending() {
  check();
  gil_free nogil;
  it().send_pending();
}

std::size_t exchange_handle::drain(std::optional<double> timeout) {
  check_fork();
  std::size_t left_over = 0;
  wait_for(deadline(timeout), [&](auto left) {
    left_over = it().drain(left);
    return left_over == 0 || it().closed();
  });
  return left_over;
}

bool exchange_handle::wait_for_queues(std::size_t n, std::optional<double> timeout) {
  check();
  return wait_for(deadline(timeout), [&](auto left) { return it().wait_for_queues(n, left); });
}

void exchange_handle::close() {
  check_fork();
  gil_free nogil;
  it().close();
}

// -- queue ---------------------------------------------------------------------------------------

void task_queue_handle::bind(const std::string& exchange) {
  check_fork();
  if (exchange.empty())
    raise(types.invalid_argument, "an exchange without a name cannot be bound: it binds queues");
  gil_free nogil;
  it().bind(exchange);
}

bool task_queue_handle::wait_for_exchanges(std::size_t n, std::optional<double> timeout) {
  check_fork();
  const bool known = wait_for(deadline(timeout), [&](auto left) {
    return it().wait_for_exchanges(n, left) || it().closed();
  });
  if (it().closed())
    raise(types.closed, "the queue is closed");
  return known;
}

std::unique_ptr<task_handle> task_queue_handle::get(std::optional<double> timeout) {
  check_fork();
  received<pubsub::task> found{receive_status::timeout};
  wait_for(deadline(timeout), [&](auto left) {
    found = it().get_for(left);
    return !found.timed_out();
  });
  if (found.closed())
    raise(types.closed, "the queue is closed");
  return found ? std::make_unique<task_handle>(*std::move(found)) : nullptr;
}

void task_queue_handle::close() {
  check_fork();
  gil_free nogil;
  it().close();
}

} // namespace pubsub::python
