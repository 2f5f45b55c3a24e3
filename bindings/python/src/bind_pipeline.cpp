// SPDX-License-Identifier: BSD-3-Clause
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <pybind11/typing.h>

#include "bind.hpp"
#include "endpoint_handle.hpp"
#include "options.hpp"
#include "pipeline_handles.hpp"
#include "typed.hpp"

namespace pubsub::python {

namespace {

/// One of two names; raises InvalidArgument for any other.
template <class Enum>
Enum one_of(const char* what, const std::string& name, const char* first, const char* second) {
  if (name != first && name != second)
    raise(types.invalid_argument,
          std::string{what} + " is " + first + " or " + second + ", not " + name);
  return name == first ? Enum{0} : Enum{1};
}

std::unique_ptr<exchange_handle>
make_exchange(const endpoint_handle& owner, const std::string& name, std::size_t window,
              const std::string& style, const std::string& balancing, const std::string& on_loss,
              unsigned max_losses, const std::string& dead_letters, const std::string& scope,
              double liveness_timeout) {
  owner.open();
  exchange_options options;
  options.window_tasks = window;
  options.style = one_of<exchange_style>("style", style, "load_balancing", "data_distribution");
  options.balance =
      one_of<pubsub::balancing>("balancing", balancing, "least_outstanding", "round_robin");
  options.on_loss = one_of<worker_loss>("on_worker_loss", on_loss, "redeliver", "drop");
  options.max_losses = max_losses;
  options.dead_letters = dead_letters;
  options.scope = one_of<name_scope>("scope", scope, "global", "local");
  options.liveness_timeout = time_of("liveness_timeout", liveness_timeout);
  return std::make_unique<exchange_handle>(owner.share(), name, options);
}

std::unique_ptr<task_queue_handle> make_queue(const endpoint_handle& owner, const std::string& name,
                                              std::size_t credit, std::size_t batch,
                                              std::size_t concurrency, bool ordered,
                                              const std::string& scope) {
  owner.open();
  task_queue_options options;
  options.credit_tasks = credit;
  options.batch_tasks = batch;
  options.concurrency = concurrency;
  options.order = ordered ? task_order::by_number : task_order::as_they_come;
  options.scope = one_of<name_scope>("scope", scope, "global", "local");
  return std::make_unique<task_queue_handle>(owner.share(), name, options);
}

void bind_task(py::module_& m) {
  py::class_<task_handle>(
      m, "Task",
      "One piece of work that a queue has given out. Call `done`, or send its result with "
      "`Exchange.send_result`; what is neither goes to another queue when it is garbage.")
      .def_property_readonly(
          "value", [](task_handle& x) { return any_object::own(x.value()); }, "What is to be done.")
      .def_property_readonly("source", &task_handle::source,
                             "Id of the exchange that it entered the pipeline by.")
      .def_property_readonly("number", &task_handle::number, "The number it got there: 0, 1, 2 ...")
      .def_property_readonly("redelivered", &task_handle::redelivered,
                             "Whether another queue has had it, and may have done it.")
      .def("done", &task_handle::done,
           "It is done: acknowledges it, at once or together with others.")
      .def("reject", &task_handle::reject,
           "It cannot be done here: another queue gets it, or the dead letters if that happens too "
           "often.");
}

void bind_exchange(py::module_& m) {
  py::class_<exchange_handle>(
      m, "Exchange",
      "A named output: what is sent goes to the queues bound to it, wherever they are. Threads may "
      "share one.")
      .def(py::init(&make_exchange), py::arg("endpoint"), py::arg("name") = "", py::kw_only(),
           py::arg("window") = exchange_options{}.window_tasks, py::arg("style") = "load_balancing",
           py::arg("balancing") = "least_outstanding", py::arg("on_worker_loss") = "redeliver",
           py::arg("max_losses") = exchange_options{}.max_losses, py::arg("dead_letters") = "",
           py::arg("scope") = "global", py::arg("liveness_timeout") = 3.0,
           "`window` is the number of tasks in flight, unacknowledged, at most. `style` is "
           "load_balancing (one queue gets a task) or data_distribution (all do), `balancing` "
           "least_outstanding or round_robin, `on_worker_loss` redeliver or drop. A task that was "
           "lost with `max_losses` workers goes to the queue `dead_letters`, if that is named. "
           "`scope` is global or local: names mean something in this endpoint only. A queue that "
           "is silent for `liveness_timeout` seconds is lost. Raises InvalidArgument, Closed.")
      .def("bind", &exchange_handle::bind, py::arg("queue"),
           "Gives tasks to all queues of this name, now and in future.")
      .def(
          "send",
          [](exchange_handle& x, const any_object& value, std::optional<double> timeout) {
            return x.send(value.ptr(), timeout);
          },
          py::arg("value"), py::arg("timeout") = py::none(),
          "Sends a task. Waits while the window is full, at most `timeout` seconds; False then: it "
          "is not sent. Raises EncodeError, Closed.")
      .def(
          "send_result",
          [](exchange_handle& x, const any_object& value, task_handle& task) {
            return x.send_result(value.ptr(), task);
          },
          py::arg("value"), py::arg("task"),
          "Sends the result of a task, under its number. The task is acknowledged when the result "
          "is. Raises EncodeError, Closed, InvalidArgument if it was sent before.")
      .def("send_pending", &exchange_handle::send_pending,
           "Sends what is held back until a batch is full. Never blocks.")
      .def(
          "drain", &exchange_handle::drain, py::arg("timeout") = py::none(),
          "Waits until all tasks are acknowledged, at most `timeout` seconds; returns how many are "
          "not.")
      .def("wait_for_queues", &exchange_handle::wait_for_queues, py::arg("n") = 1,
           py::arg("timeout") = py::none(),
           "Waits until `n` queues are bound, at most `timeout` seconds; returns whether they are.")
      .def_property_readonly("queues", &exchange_handle::queues, "Number of queues bound.")
      .def_property_readonly("id", &exchange_handle::id, "Tasks that begin here have it as source.")
      .def_property_readonly("in_flight", &exchange_handle::in_flight,
                             "Tasks sent and not acknowledged.")
      .def(
          "counters",
          [](const exchange_handle& x) {
            const auto now = x.counters();
            py::typing::Dict<py::str, py::int_> result;
            result["sent"] = now.sent;
            result["done"] = now.done;
            result["redelivered"] = now.redelivered;
            result["dropped"] = now.dropped;
            result["dead"] = now.dead;
            result["batches"] = now.batches;
            result["in_flight_max"] = now.in_flight_max;
            return result;
          },
          "What became of tasks, by name: sent, done, redelivered, dropped, dead; and batches, the "
          "messages they travelled in.")
      .def("close", &exchange_handle::close,
           "Ends all waits. Tasks in flight are abandoned: call `drain` before. Idempotent.")
      .def_property_readonly("closed", &exchange_handle::closed);
}

} // namespace

void bind_pipeline(py::module_& m) {
  bind_task(m);
  bind_exchange(m);
  py::class_<task_queue_handle>(
      m, "TaskQueue",
      "A named input, or one without a name that is bound to exchanges. Threads may share one.")
      .def(py::init(&make_queue), py::arg("endpoint"), py::arg("name") = "", py::kw_only(),
           py::arg("credit") = task_queue_options{}.credit_tasks,
           py::arg("batch") = task_queue_options{}.batch_tasks, py::arg("concurrency") = 1,
           py::arg("ordered") = false, py::arg("scope") = "global",
           "`credit` is the number of tasks that may be here unacknowledged, `batch` how many one "
           "acknowledgement covers, `concurrency` how many are worked on at a time. An `ordered` "
           "queue gives out tasks by their numbers. Raises InvalidArgument, Closed.")
      .def("bind", &task_queue_handle::bind, py::arg("exchange"),
           "Takes part in the tasks of all exchanges of this name, now and in future.")
      .def("wait_for_exchanges", &task_queue_handle::wait_for_exchanges, py::arg("n") = 1,
           py::arg("timeout") = py::none(),
           "Waits until `n` exchanges that it is bound to are known here, at most `timeout` "
           "seconds; "
           "returns whether they are: else a name may be wrong, or a link missing. Raises Closed.")
      .def_property_readonly("exchanges", &task_queue_handle::exchanges,
                             "How many exchanges that it is bound to are known here.")
      .def("get", &task_queue_handle::get, py::arg("timeout") = py::none(),
           "The next task; None after `timeout` seconds without one. Raises Closed once closed.")
      .def("available", &task_queue_handle::available, "Tasks that can be taken without waiting.")
      .def("close", &task_queue_handle::close,
           "Ends all waits. What is here and not done goes to other queues. Idempotent.")
      .def_property_readonly("closed", &task_queue_handle::closed);
}

} // namespace pubsub::python
