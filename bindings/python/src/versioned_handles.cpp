// SPDX-License-Identifier: BSD-3-Clause
#include "versioned_handles.hpp"

#include <algorithm>

#include "decode.hpp"
#include "encode.hpp"
#include "raise.hpp"

namespace pubsub::python {

namespace {

constexpr std::size_t most_reports = 1'000'000;
constexpr std::chrono::milliseconds short_wait{10}; // until room in the window is looked for again
constexpr std::uint64_t sort_every = 1'024;         // messages: the program may take no completions

/// Ends `get_batch` where a function of the state has raised.
struct state_failure : std::exception {};

replica_options with_functions(replica_options options,
                               const std::shared_ptr<state_functions>& functions) {
  if (functions->has_snapshot())
    options.snapshot = [functions] { return functions->take_snapshot(); };
  if (functions->has_restore())
    options.restore = [functions](const data_view& state, const message_version& at) {
      functions->restore(state, at);
    };
  return options;
}

/// `send` waits for its own among them.
versioned_group_options with_all_reports(versioned_group_options options) {
  options.reports = completion_reports::all;
  return options;
}

} // namespace

py::object to_python(const message_version& x) {
  if (x.number == 0)
    return py::none();
  return py::handle(types.message_version)(x.epoch, x.number);
}

// -- state ---------------------------------------------------------------------------------------

state_functions::~state_functions() {
  const gil_taken gil;
  snapshot_.release().dec_ref();
  restore_.release().dec_ref();
  failure_ = nullptr;
}

data state_functions::take_snapshot() {
  const gil_taken gil;
  try {
    const auto state =
        py::reinterpret_steal<py::object>(checked(call_or_park(snapshot_.ptr(), {})));
    scratch_writer out;
    encode(state.ptr(), *out);
    return data_view::from_valid(out->bytes()).to_data();
  } catch (py::error_already_set&) {
    failure_ = std::current_exception();
    throw state_failure{};
  }
}

void state_functions::restore(const data_view& state, const message_version& at) {
  const gil_taken gil;
  try {
    const auto value = py::reinterpret_steal<py::object>(checked(to_python(state)));
    const auto version = to_python(at);
    py::reinterpret_steal<py::object>(
        checked(call_or_park(restore_.ptr(), {value.ptr(), version.ptr()})));
  } catch (py::error_already_set&) {
    failure_ = std::current_exception();
    throw state_failure{};
  }
}

void state_functions::check() {
  if (auto failure = std::exchange(failure_, nullptr))
    std::rethrow_exception(failure);
}

// -- replica -------------------------------------------------------------------------------------

replica_handle::replica_handle(std::shared_ptr<pubsub::endpoint> owner, const std::string& name,
                               const replica_options& options,
                               std::shared_ptr<state_functions> functions)
    : resident(std::move(owner), name, with_functions(options, functions)),
      functions_(std::move(functions)) {}

void replica_handle::raise_failure() const {
  if (const auto why = ask([](const replica& x) { return x.failure(); }))
    raise(why);
}

received<std::vector<versioned_message>> replica_handle::take(std::size_t max,
                                                              std::optional<double> timeout) {
  check_fork();
  received<std::vector<versioned_message>> found{receive_status::timeout};
  try {
    wait_for(deadline(timeout), [&](auto left) {
      found = it().get_batch_for(max, left);
      return !found.timed_out();
    });
  } catch (const state_failure&) {
    close();
    functions_->check();
  }
  if (found.closed())
    raise_failure();
  return found;
}

std::vector<versioned_message> replica_handle::get_batch(std::size_t max,
                                                         std::optional<double> timeout) {
  if (max == 0)
    raise(types.invalid_argument, "a batch is of at least 1 message");
  auto found = take(max, timeout);
  if (found.closed())
    raise(types.closed, "the replica is closed");
  return found ? std::move(*found) : std::vector<versioned_message>{};
}

std::optional<versioned_message> replica_handle::get(std::optional<double> timeout) {
  auto found = get_batch(1, timeout);
  if (found.empty())
    return {};
  return std::move(found.front());
}

versioned_message replica_handle::next() {
  auto found = take(1, std::nullopt);
  if (!found)
    throw py::stop_iteration();
  return std::move(found->front());
}

bool replica_handle::wait_ready(std::optional<double> timeout) {
  check_fork();
  bool closed = false;
  const bool ready = wait_for(deadline(timeout), [&](auto left) {
    return it().wait_ready(left) || (closed = it().closed());
  });
  if (closed) {
    raise_failure();
    raise(types.closed, "the replica is closed");
  }
  return ready;
}

void replica_handle::close() {
  check_fork();
  gil_free nogil;
  it().close();
}

// -- group ---------------------------------------------------------------------------------------

versioned_group_handle::versioned_group_handle(std::shared_ptr<pubsub::endpoint> owner,
                                               const std::string& name,
                                               const versioned_group_options& options)
    : resident(std::move(owner), name, with_all_reports(options)), reports_(options.reports),
      window_(options.window_messages) {}

void versioned_group_handle::check() const {
  check_fork();
  error why;
  bool closed = false;
  {
    gil_free nogil;
    why = it().failure();
    closed = it().closed();
  }
  if (why)
    raise(why);
  if (closed)
    raise(types.closed, "the group is closed");
}

void versioned_group_handle::sort_in(std::vector<versioned_completion> some) {
  for (auto& x : some) {
    if (awaited_.erase(x.client_number) > 0)
      arrived_.emplace(x.client_number, std::move(x));
    else if (reports_ == completion_reports::all ||
             (reports_ == completion_reports::failures && x.error))
      reported_.push_back(std::move(x));
  }
  while (reported_.size() > most_reports)
    reported_.pop_front();
}

template <class Done>
bool versioned_group_handle::pump(std::chrono::nanoseconds timeout, Done done) {
  const auto end = deadline::clock::now() + timeout;
  std::unique_lock lock(mutex_);
  while (!done()) {
    const auto left = end - deadline::clock::now();
    if (taking_) {
      if (came_.wait_until(lock, end) == std::cv_status::timeout)
        return done();
      continue;
    }
    taking_ = true;
    lock.unlock();
    auto some = it().take_completions_for(std::max(left, deadline::clock::duration{0}));
    lock.lock();
    taking_ = false;
    if (some)
      sort_in(std::move(*some));
    came_.notify_all();
    if (left.count() <= 0)
      return done();
  }
  return true;
}

// Posts go under the lock: the window does not fill up in between, and what is awaited is known
// before another thread sorts its completion.
std::uint64_t versioned_group_handle::post_when_there_is_room(std::span<const std::byte> value,
                                                              bool awaited) {
  std::optional<expected<std::uint64_t>> number;
  auto room = [&] { return it().in_flight() < window_ || it().closed(); };
  wait_for(deadline{std::nullopt}, [&](auto left) {
    if (!pump(std::min<std::chrono::nanoseconds>(left, short_wait), room))
      return false;
    std::lock_guard lock(mutex_);
    if (!room())
      return false;
    number = it().post(value);
    if (awaited && *number)
      awaited_.insert(**number);
    return true;
  });
  return value_or_raise(std::move(*number));
}

message_version versioned_group_handle::send(PyObject* value) {
  check();
  scratch_writer out;
  encode(value, *out);
  const auto number = post_when_there_is_room(out->bytes(), true);
  {
    gil_free nogil;
    it().send_pending();
  }
  auto here = [&] { return arrived_.contains(number) || it().closed(); };
  wait_for(deadline{std::nullopt}, [&](auto left) { return pump(left, here); });
  versioned_completion result;
  {
    gil_free nogil;
    std::lock_guard lock(mutex_);
    if (auto found = arrived_.extract(number))
      result = std::move(found.mapped());
    else
      result.error = {errc::shutting_down, "the group was closed: the message may have been taken"};
  }
  if (result.error)
    raise(result.error);
  return result.version;
}

std::uint64_t versioned_group_handle::post(PyObject* value) {
  check();
  scratch_writer out;
  encode(value, *out);
  const auto number = post_when_there_is_room(out->bytes(), false);
  if (number % sort_every == 0)
    sort_what_is_here();
  return number;
}

void versioned_group_handle::sort_what_is_here() {
  gil_free nogil;
  pump(std::chrono::nanoseconds{0}, [] { return false; });
}

void versioned_group_handle::send_pending() {
  check();
  gil_free nogil;
  it().send_pending();
}

std::size_t versioned_group_handle::drain(std::optional<double> timeout) {
  check_fork();
  std::size_t left_over = 0;
  wait_for(deadline(timeout), [&](auto left) {
    left_over = it().drain(left);
    return left_over == 0 || it().closed();
  });
  sort_what_is_here();
  return left_over;
}

std::vector<versioned_completion>
versioned_group_handle::take_completions(std::optional<double> timeout) {
  check_fork();
  std::vector<versioned_completion> result;
  auto here = [&] { return !reported_.empty() || it().closed(); };
  wait_for(deadline(timeout), [&](auto left) {
    const bool some = pump(left, here);
    std::lock_guard lock(mutex_);
    result.assign(std::make_move_iterator(reported_.begin()),
                  std::make_move_iterator(reported_.end()));
    reported_.clear();
    return some;
  });
  return result;
}

bool versioned_group_handle::wait_for_replicas(std::size_t n, std::optional<double> timeout) {
  check();
  return wait_for(deadline(timeout), [&](auto left) { return it().wait_for_replicas(n, left); });
}

void versioned_group_handle::close() {
  check_fork();
  gil_free nogil;
  it().close();
}

} // namespace pubsub::python
