// SPDX-License-Identifier: BSD-3-Clause
#include "service_handle.hpp"

#include "decode.hpp"
#include "encode.hpp"
#include "raise.hpp"

namespace pubsub::python {

namespace {

/// The service whose handler this thread is in.
thread_local const void* current_service = nullptr;

class handler_scope {
public:
  explicit handler_scope(const void* service) : outer_(std::exchange(current_service, service)) {}
  ~handler_scope() { current_service = outer_; }

private:
  const void* outer_;
};

} // namespace

// -- function ------------------------------------------------------------------------------------

operation_function::~operation_function() {
  const gil_taken gil;
  forget();
}

void operation_function::forget() {
  // What it refers to may call for it again while it goes.
  const auto function = std::exchange(function_, {});
  const auto failed = std::exchange(failed_, {});
}

expected<void> operation_function::operator()(const data_view& argument, data_writer& result) {
  const gil_taken gil;
  keep_thread_state();
  try {
    const auto value = py::reinterpret_steal<py::object>(to_python(argument));
    const auto answer =
        py::reinterpret_steal<py::object>(checked(call_or_park(function_.ptr(), {value.ptr()})));
    encode(answer.ptr(), result);
    return {};
  } catch (py::error_already_set& failure) {
    return error{errc::operation_failed, describe(failure)};
  }
}

std::string operation_function::describe(py::error_already_set& failure) const {
  try {
    return failed_(name_, failure.value()).cast<std::string>();
  } catch (const std::exception&) { // its text cannot be had, or not be written
    return py::str(py::handle(failure.type()).attr("__name__")).cast<std::string>() + ": ";
  }
}

// -- service -------------------------------------------------------------------------------------

service_handle::service_handle(std::shared_ptr<pubsub::endpoint> owner, const std::string& name,
                               const service_options& options, py::object failed)
    : failed_(std::move(failed)),
      at_(std::make_shared<resident<service>>(std::move(owner), name, options)) {}

service_handle::~service_handle() {
  if (finalizing()) { // its workers may want the GIL, which they never get
    new std::shared_ptr(std::move(at_));
    return;
  }
  if (in_handler())
    run_in_background([at = std::move(at_)] {});
}

bool service_handle::in_handler() const {
  return current_service == at_.get();
}

void service_handle::add(const std::string& name, py::object function, bool idempotent) {
  auto handler = std::make_shared<operation_function>(name, std::move(function), failed_);
  value_or_raise(at_->ask([&](service& x) {
    return x.add(
        name,
        [handler, me = at_.get()](const data_view& argument, data_writer& result) {
          const handler_scope scope{me};
          return (*handler)(argument, result);
        },
        idempotent ? repeatable::idempotent : repeatable::no);
  }));
  functions_.push_back(std::move(handler));
}

void service_handle::start() {
  value_or_raise(at_->ask([](service& x) { return x.start(); }));
}

bool service_handle::close(std::optional<double> timeout) {
  at_->check_fork();
  if (in_handler())
    raise(types.invalid_argument, "a service cannot be closed by its own handler, whose end it "
                                  "would wait for");
  if (!run_interruptibly([at = at_] { at->it().close(); }, deadline(timeout)))
    return false;
  for (const auto& each : std::exchange(functions_, {}))
    each->forget();
  return true;
}

} // namespace pubsub::python
