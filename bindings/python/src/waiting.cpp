// SPDX-License-Identifier: BSD-3-Clause
#include "waiting.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <system_error>

#include <cxxabi.h>
#include <pthread.h>
#include <unistd.h>

#include "raise.hpp"

namespace pubsub::python {

namespace {

constexpr double longest_wait_seconds = 1e9; // 31 years: beyond it, for ever

std::atomic<unsigned long> main_thread{0};
std::atomic<unsigned> forks{0};
std::atomic<unsigned> background_work{0};

// Where the interpreter goes away, Python ends a thread that wants the GIL by unwinding it. Through
// C++ that ends the process, so the thread is parked instead. No frame between may have
// destructors.
template <class Call>
auto or_park(Call call) {
  try {
    return call();
  } catch (abi::__forced_unwind&) {
    for (;;)
      ::pause();
  }
}

PyGILState_STATE take_gil() {
  while (finalizing())
    ::pause();
  return or_park([] { return PyGILState_Ensure(); });
}

struct kept_thread_state {
  PyGILState_STATE state = PyGILState_Ensure();
  ~kept_thread_state() {
    if (finalizing())
      return;
    const auto outer = take_gil();
    PyGILState_Release(state);
    PyGILState_Release(outer);
  }
};

} // namespace

bool finalizing() noexcept {
#if PY_VERSION_HEX >= 0x030d0000
  return Py_IsFinalizing() != 0;
#else
  return _Py_IsFinalizing() != 0;
#endif
}

gil_taken::gil_taken() : taken_(PyGILState_Check() == 0) {
  if (taken_)
    state_ = take_gil();
}

gil_taken::~gil_taken() {
  if (taken_)
    PyGILState_Release(state_);
}

void keep_thread_state() {
  thread_local const kept_thread_state kept;
}

PyObject* call_or_park(PyObject* function, std::initializer_list<PyObject*> arguments) {
  return or_park(
      [&] { return PyObject_Vectorcall(function, arguments.begin(), arguments.size(), nullptr); });
}

// Whoever has the GIL while the interpreter goes away is the thread that takes it down, and keeps
// it.
gil_free::gil_free() : state_(finalizing() ? nullptr : PyEval_SaveThread()) {}

gil_free::~gil_free() {
  if (state_ == nullptr)
    return;
  while (finalizing())
    ::pause();
  or_park([this] { PyEval_RestoreThread(state_); });
}

std::chrono::nanoseconds longest_wait() noexcept {
  constexpr std::chrono::milliseconds main_waits{100};
  constexpr std::chrono::seconds others_wait{10};
  return PyThread_get_thread_ident() == main_thread ? main_waits
                                                    : std::chrono::nanoseconds{others_wait};
}

void find_main_thread() {
  main_thread =
      py::module_::import("threading").attr("main_thread")().attr("ident").cast<unsigned long>();
}

deadline::deadline(std::optional<double> seconds) {
  if (!seconds || *seconds > longest_wait_seconds)
    return;
  if (std::isnan(*seconds))
    raise(types.invalid_argument, "a time-out is a number of seconds, not nan");
  auto left = std::chrono::duration<double>(std::max(*seconds, 0.0));
  end_ = clock::now() + std::chrono::duration_cast<clock::duration>(left);
}

std::chrono::nanoseconds deadline::slice(std::chrono::nanoseconds limit) const {
  if (end_ == never)
    return limit;
  auto left = std::chrono::duration_cast<std::chrono::nanoseconds>(end_ - clock::now());
  return std::clamp(left, std::chrono::nanoseconds{0}, limit);
}

std::chrono::milliseconds to_milliseconds(std::optional<double> seconds) {
  return std::chrono::ceil<std::chrono::milliseconds>(
      deadline(seconds).slice(std::chrono::hours{1}));
}

void event::set() {
  {
    const std::lock_guard lock(mutex_);
    set_ = true;
  }
  changed_.notify_all();
}

void event::clear() {
  const std::lock_guard lock(mutex_);
  set_ = false;
}

bool event::is_set() const {
  const std::lock_guard lock(mutex_);
  return set_;
}

bool event::wait(std::optional<double> timeout) const {
  return wait_for(deadline(timeout), [this](auto left) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, left, [this] { return set_; });
  });
}

namespace {

struct job {
  explicit job(std::function<void()> what) : work(std::move(what)) {}

  std::function<void()> work; // touched by the thread that does it alone
  std::mutex mutex;           // guards all below
  std::condition_variable ended;
  bool done = false;
  std::exception_ptr failure;
};

void run(job& x) {
  std::exception_ptr failure;
  try {
    x.work();
  } catch (...) {
    failure = std::current_exception();
  }
  x.work = nullptr; // what it owns goes before it counts as ended
  {
    std::lock_guard lock(x.mutex);
    x.done = true;
    x.failure = failure;
  }
  x.ended.notify_all();
}

/// In a thread of its own. False where the process may have no more of them.
bool begin(const std::shared_ptr<job>& x) {
  background_work.fetch_add(1);
  try {
    std::thread([x] {
      run(*x);
      background_work.fetch_sub(1);
    }).detach();
    return true;
  } catch (const std::system_error&) {
    background_work.fetch_sub(1);
    return false;
  }
}

} // namespace

bool run_interruptibly(std::function<void()> work, const deadline& until) {
  const auto state = std::make_shared<job>(std::move(work));
  if (!begin(state)) {
    const gil_free nogil;
    run(*state);
  }
  const bool done = wait_for(until, [&](auto left) {
    std::unique_lock lock(state->mutex);
    return state->ended.wait_for(lock, left, [&] { return state->done; });
  });
  if (done && state->failure)
    std::rethrow_exception(state->failure);
  return done;
}

void run_in_background(std::function<void()> work) {
  auto state = std::make_shared<job>(std::move(work));
  if (!begin(state))
    new std::shared_ptr(std::move(state)); // the caller must not end it: it stays
}

void join_background_work(std::chrono::milliseconds limit) {
  gil_free nogil;
  auto end = deadline::clock::now() + limit;
  while (background_work.load() != 0 && deadline::clock::now() < end)
    std::this_thread::sleep_for(std::chrono::milliseconds{1});
}

void fork_guard::install() {
  ::pthread_atfork(nullptr, nullptr, [] {
    forks.fetch_add(1, std::memory_order_relaxed);
    background_work = 0;                       // whatever it was, it goes on in the parent
    main_thread = PyThread_get_thread_ident(); // the thread that forked is all there is
  });
}

unsigned fork_guard::generation() noexcept {
  return forks.load(std::memory_order_relaxed);
}

bool fork_guard::crossed() const noexcept {
  return born_ != generation();
}

void fork_guard::check() const {
  if (crossed())
    raise(types.fork_error, "made before os.fork(): it belongs to the parent process; make a new "
                            "endpoint in the child");
}

} // namespace pubsub::python
