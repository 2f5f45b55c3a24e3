// SPDX-License-Identifier: BSD-3-Clause
#include "remote_handles.hpp"

#include <algorithm>
#include <iterator>

#include <sys/eventfd.h>
#include <unistd.h>

#include "decode.hpp"
#include "encode.hpp"
#include "raise.hpp"

namespace pubsub::python {

namespace {

constexpr std::chrono::milliseconds between_looks{10}; // until room is looked for again
constexpr std::chrono::nanoseconds longest_timeout = std::chrono::hours{24 * 365};

using timeout_type = std::optional<std::chrono::nanoseconds>;

timeout_type to_timeout(std::optional<double> seconds) {
  if (!seconds)
    return {};
  return deadline(seconds).slice(longest_timeout);
}

remote_future submit(remote& to, std::string_view operation, std::span<const std::byte> argument,
                     const timeout_type& timeout) {
  if (timeout)
    return to.submit_for(operation, argument, *timeout);
  return to.submit(operation, argument);
}

PyObject* result_of(const remote_future& ready) {
  const auto found = ready.view();
  if (!found)
    raise(found.error());
  return to_python(*found);
}

/// The last first: those may not have been sent.
void cancel(std::span<remote_future> all) {
  gil_free nogil;
  for (auto each = all.rbegin(); each != all.rend(); ++each)
    each->cancel();
}

/// Further endpoints outlive the client, too.
std::shared_ptr<resident<remote>> make(std::shared_ptr<pubsub::endpoint> owner,
                                       const std::string& service, const remote_options& options,
                                       const remote_handle::endpoint_list& more) {
  std::vector<const endpoint*> others;
  for (const auto& each : more)
    others.push_back(each.get());
  return {new resident<remote>{std::move(owner), service, options, others},
          [more](resident<remote>* x) { delete x; }};
}

/// Waits for one after the other, and takes all that are ready meanwhile.
void collect(std::span<const remote_future> futures, bool return_exceptions, py::list& results) {
  for (const auto& each : futures) {
    if (!each.ready())
      wait_for(deadline{std::nullopt}, [&](auto left) { return each.wait_for(left); });
    const auto found = each.view();
    if (found)
      results.append(py::reinterpret_steal<py::object>(to_python(*found)));
    else if (return_exceptions)
      results.append(to_exception(found.error()));
    else
      raise(found.error());
  }
}

} // namespace

// -- future --------------------------------------------------------------------------------------

remote_future_handle::~remote_future_handle() {
  if (at_->forked()) // what it shares may be in use by threads that exist in the parent only
    new remote_future(std::move(it_));
  it_ = {};
}

void remote_future_handle::wait(std::optional<double> timeout) const {
  if (it_.ready())
    return;
  at_->check_fork();
  if (!wait_for(deadline(timeout), [&](auto left) { return it_.wait_for(left); }))
    raise({errc::request_timeout, "the result is not here yet"});
}

PyObject* remote_future_handle::result(std::optional<double> timeout) const {
  wait(timeout);
  return result_of(it_);
}

py::object remote_future_handle::exception(std::optional<double> timeout) const {
  wait(timeout);
  const auto found = it_.view();
  return found ? py::none() : to_exception(found.error());
}

bool remote_future_handle::cancelled() const {
  return it_.ready() && !it_.view() && it_.view().error() == errc::cancelled;
}

bool remote_future_handle::cancel() {
  at_->check_fork();
  gil_free nogil;
  return it_.cancel();
}

void remote_future_handle::when_ready(std::function<void()> then) const {
  at_->check_fork();
  gil_free nogil;
  it_.when_ready(std::move(then));
}

// -- client --------------------------------------------------------------------------------------

remote_handle::remote_handle(std::shared_ptr<pubsub::endpoint> owner, const std::string& service,
                             const remote_options& options, const endpoint_list& more)
    : at_(make(std::move(owner), service, options, more)), max_unfinished_(options.max_unfinished) {
}

void remote_handle::check() const {
  if (at_->ask([](const remote& x) { return x.closed(); }))
    raise(types.closed, "the client of the service is closed");
}

/// `submit` of C++ waits for room, too, but Ctrl-C would not end that.
void remote_handle::wait_for_room() {
  if (room_ > 0)
    return;
  auto& it = at_->it();
  std::size_t unfinished = 0;
  wait_for(deadline{std::nullopt}, [&](auto left) {
    const auto end = deadline::clock::now() + left;
    while ((unfinished = it.unfinished()) >= max_unfinished_ && !it.closed()) {
      if (deadline::clock::now() >= end)
        return false;
      (void)it.drain(std::min<std::chrono::nanoseconds>(left, between_looks));
    }
    return true;
  });
  room_ = max_unfinished_ - std::min(unfinished, max_unfinished_ - 1);
}

remote_future remote_handle::begin(std::string_view operation, PyObject* argument,
                                   std::optional<double> timeout) {
  at_->check_fork();
  const auto limit = to_timeout(timeout);
  scratch_writer out;
  encode(argument, *out);
  wait_for_room();
  --room_;
  gil_free nogil;
  return pubsub::python::submit(at_->it(), operation, out->bytes(), limit);
}

PyObject* remote_handle::call(std::string_view operation, PyObject* argument,
                              std::optional<double> timeout) {
  auto future = begin(operation, argument, timeout);
  try {
    wait_for(deadline{std::nullopt}, [&](auto left) { return future.wait_for(left); });
  } catch (py::error_already_set&) {
    cancel({&future, 1});
    throw;
  }
  return result_of(future);
}

std::unique_ptr<remote_future_handle> remote_handle::submit(std::string_view operation,
                                                            PyObject* argument,
                                                            std::optional<double> timeout) {
  return std::make_unique<remote_future_handle>(at_, begin(operation, argument, timeout));
}

std::vector<remote_future> remote_handle::begin_all(std::string_view operation,
                                                    const py::iterable& arguments, bool in_bulk) {
  at_->check_fork();
  scratch_writer out;
  for (const auto each : arguments)
    encode(each.ptr(), *out);
  room_ = 0; // these need none, and leave less
  gil_free nogil;
  return at_->it().submit_all(operation, out->bytes(),
                              in_bulk ? grouping::in_bulk : grouping::by_mode);
}

future_list remote_handle::submit_all(std::string_view operation, const py::iterable& arguments,
                                      bool in_bulk) {
  future_list result;
  for (auto& each : begin_all(operation, arguments, in_bulk))
    result.push_back(std::make_unique<remote_future_handle>(at_, std::move(each)));
  return result;
}

py::list remote_handle::map(std::string_view operation, const py::iterable& arguments, bool in_bulk,
                            bool return_exceptions) {
  auto futures = begin_all(operation, arguments, in_bulk);
  py::list results;
  try {
    collect(futures, return_exceptions, results);
  } catch (py::error_already_set&) {
    cancel(futures);
    throw;
  }
  return results;
}

void remote_handle::send_pending() {
  check();
  at_->ask([](remote& x) { x.send_pending(); });
}

std::size_t remote_handle::drain(std::optional<double> timeout) {
  at_->check_fork();
  std::size_t left_over = 0;
  wait_for(deadline(timeout), [&](auto left) {
    left_over = at_->it().drain(left);
    return left_over == 0 || at_->it().closed();
  });
  return left_over;
}

bool remote_handle::wait_for_instances(std::size_t n, std::optional<double> timeout) {
  check();
  const bool there = wait_for(deadline(timeout), [&](auto left) {
    return at_->it().wait_for_instances(n, left) || at_->it().closed();
  });
  check();
  return there;
}

void remote_handle::close() {
  at_->ask([](remote& x) { x.close(); });
}

// -- completions ---------------------------------------------------------------------------------

completion_queue::keys::~keys() {
  if (fd >= 0)
    ::close(fd);
}

void completion_queue::keys::push(std::uint64_t key) {
  const std::lock_guard lock{mutex};
  list.push_back(key);
  if (list.size() > 1)
    return;
  came.notify_all();
  if (fd >= 0)
    ::eventfd_write(fd, 1);
}

std::vector<std::uint64_t> completion_queue::keys::take() {
  eventfd_t count = 0;
  if (fd >= 0 && !list.empty())
    ::eventfd_read(fd, &count);
  return std::exchange(list, {});
}

void completion_queue::add(const remote_future_handle& future, std::uint64_t key) {
  future.when_ready([its = keys_, key] { its->push(key); });
}

std::vector<std::uint64_t> completion_queue::take(std::optional<double> timeout) {
  std::vector<std::uint64_t> result;
  wait_for(deadline(timeout), [&](auto left) {
    std::unique_lock lock{keys_->mutex};
    const bool any = keys_->came.wait_for(lock, left, [&] { return !keys_->list.empty(); });
    result = keys_->take();
    return any;
  });
  return result;
}

int completion_queue::fd() {
  const std::lock_guard lock{keys_->mutex};
  if (keys_->fd < 0) {
    keys_->fd = ::eventfd(keys_->list.empty() ? 0 : 1, EFD_CLOEXEC | EFD_NONBLOCK);
    if (keys_->fd < 0)
      raise({errc::limit_exceeded, "the process has no descriptor left"});
  }
  return keys_->fd;
}

} // namespace pubsub::python
