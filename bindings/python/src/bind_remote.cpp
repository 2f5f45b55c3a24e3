// SPDX-License-Identifier: BSD-3-Clause
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <pybind11/typing.h>

#include "bind.hpp"
#include "endpoint_handle.hpp"
#include "options.hpp"
#include "remote_handles.hpp"
#include "service_handle.hpp"
#include "typed.hpp"

namespace pubsub::python {

namespace {

double in_seconds(std::chrono::nanoseconds x) {
  return std::chrono::duration<double>(x).count();
}

std::unique_ptr<service_handle> make_service(const endpoint_handle& owner, const std::string& name,
                                             std::size_t workers, std::size_t queue,
                                             std::size_t max_result_bytes, py::object failed) {
  owner.open();
  service_options options;
  options.workers = workers;
  options.queue_operations = queue;
  options.max_result_bytes = max_result_bytes;
  return std::make_unique<service_handle>(owner.share(), name, options, std::move(failed));
}

std::unique_ptr<remote_handle>
make_remote(const endpoint_handle& owner, const std::string& service, const std::string& mode,
            double timeout, std::size_t parallel, std::size_t window, std::size_t bulk_size,
            std::size_t max_request_bytes, std::size_t max_unfinished, unsigned max_losses,
            double liveness_timeout, const std::vector<const endpoint_handle*>& more) {
  owner.open();
  remote_handle::endpoint_list others;
  for (const auto* each : more) {
    each->open();
    others.push_back(each->share());
  }
  remote_options options;
  options.mode = value_or_raise(parse_remote_mode(mode));
  options.timeout = time_of("timeout", timeout);
  options.parallel = parallel;
  options.window_operations = window;
  options.bulk_operations = bulk_size;
  options.max_request_bytes = max_request_bytes;
  options.max_unfinished = max_unfinished;
  options.max_losses = max_losses;
  options.liveness_timeout = time_of("liveness_timeout", liveness_timeout);
  return std::make_unique<remote_handle>(owner.share(), service, options, others);
}

// -- service -------------------------------------------------------------------------------------

void bind_service(py::module_& m) {
  py::class_<service_handle>(
      m, "Service",
      "An instance of a service: named operations that clients anywhere within reach can call. "
      "Threads may share one.")
      .def(py::init(&make_service), py::arg("endpoint"), py::arg("name"), py::kw_only(),
           py::arg("workers") = service_options{}.workers,
           py::arg("queue") = service_options{}.queue_operations,
           py::arg("max_result_bytes") = service_options{}.max_result_bytes, py::arg("failed"),
           "`workers` threads call functions; `queue` operations wait here, in round numbers, "
           "before clients are held back. A result is at most `max_result_bytes` long. "
           "`failed(operation, exception)` returns the text "
           "of the caller's error, `type: text`. Raises InvalidArgument, Closed.")
      .def("add_function", &service_handle::add, py::arg("operation"), py::arg("function"),
           py::arg("idempotent") = false,
           "Before `start`. `function(argument)` returns the result. What is `idempotent` is done "
           "by another instance where this one is lost with it. Raises InvalidArgument.")
      .def("start", &service_handle::start, "Takes calls from now on. Raises Closed.")
      .def_property_readonly(
          "clients",
          [](const service_handle& x) {
            return x.at().ask([](const service& it) { return it.clients(); });
          },
          "Clients that are known here and within reach.")
      .def(
          "counters",
          [](const service_handle& x) {
            const auto now = x.at().ask([](const service& it) { return it.counters(); });
            py::typing::Dict<py::str, py::int_> result;
            result["requests"] = now.requests;
            result["operations"] = now.operations;
            result["failed"] = now.failed;
            result["cancelled"] = now.cancelled;
            result["refused"] = now.refused;
            return result;
          },
          "By name: requests, messages that carried operations; operations, those that are done, "
          "and of those failed; cancelled before they began; refused, messages.")
      .def("close", &service_handle::close, py::arg("timeout") = 3.0,
           "Takes no more: what has not begun is done by other instances. Waits at most `timeout` "
           "seconds for functions that run; returns whether they have ended. Idempotent. Raises "
           "InvalidArgument in such a function.")
      .def_property_readonly("closed",
                             [](const service_handle& x) {
                               return x.at().ask([](const service& it) { return it.closed(); });
                             })
      .def_property_readonly(
          "forked", [](const service_handle& x) { return x.at().forked(); },
          "Whether it belongs to a parent process.");
}

// -- future --------------------------------------------------------------------------------------

void bind_future(py::module_& m) {
  py::class_<remote_future_handle>(
      m, "RemoteFuture",
      "A result that is on its way. Always completes, at the timeout of the call at the latest. "
      "Wait with `result`, or `await` it. Threads may share one.")
      .def("done", &remote_future_handle::done, "Whether it is complete. Never waits.")
      .def(
          "result",
          [](const remote_future_handle& x, std::optional<double> timeout) {
            return any_object::own(x.result(timeout));
          },
          py::arg("timeout") = py::none(),
          "The result. Waits at most `timeout` seconds, then raises Timeout; the call goes on. "
          "Raises what became of the call: OperationFailed, Cancelled, NoSuchOperation, "
          "NoSuchService, ServiceLost, Timeout (of the call), LimitExceeded, Closed; or the error "
          "that a function in C++ has returned.")
      .def(
          "exception",
          [](const remote_future_handle& x, std::optional<double> timeout) {
            return error_or_none::own(x.exception(timeout).release().ptr());
          },
          py::arg("timeout") = py::none(),
          "What `result` would raise about the call; None if it is well. Raises Timeout if it is "
          "not complete after `timeout` seconds.")
      .def("cancel", &remote_future_handle::cancel,
           "Completes it with Cancelled; it is not done if it has not begun. False if it was "
           "complete before.")
      .def("cancelled", &remote_future_handle::cancelled)
      .def("__await__",
           [](const py::object& self) {
             const auto awaited = py::module_::import("libpubsub._completions").attr("result_of");
             return result_generator::own(awaited(self).release().ptr());
           })
      .def("__repr__", [](const remote_future_handle& x) {
        return std::string{"<RemoteFuture: "} +
               (x.cancelled() ? "cancelled"
                : x.done()    ? "done"
                              : "unfinished") +
               ">";
      });
  py::class_<completion_queue>(m, "CompletionQueue", "Tells which futures are complete.")
      .def(py::init())
      .def("add", &completion_queue::add, py::arg("future"), py::arg("key"),
           "`take` returns `key` once `future` is complete.")
      .def("take", &completion_queue::take, py::arg("timeout") = py::none(),
           "Keys of futures that are complete, each once; waits for the first at most `timeout` "
           "seconds.")
      .def("fileno", &completion_queue::fd, "A descriptor, readable while there are keys.");
}

// -- client --------------------------------------------------------------------------------------

constexpr auto options_doc =
    "`timeout` is that of calls that have none of their own, in seconds. `parallel` requests at a "
    "time in mode async; `window` operations sent and not answered in modes pipeline and hybrid; "
    "`bulk_size` operations in a request of mode hybrid. `submit` waits while `max_unfinished` are "
    "not finished. An idempotent operation may be lost with `max_losses` instances; one from "
    "which nothing comes for `liveness_timeout` seconds is lost. In mode async calls go by the "
    "endpoints `more`, too, "
    "in mode auto those with long results. "
    "Raises InvalidArgument, Closed.";

using result_list = py::typing::List<any_object>;

void bind_calls(py::class_<remote_handle>& c) {
  c.def(
       "call",
       [](remote_handle& x, std::string_view operation, const any_object& argument,
          std::optional<double> timeout) {
         return any_object::own(x.call(operation, argument.ptr(), timeout));
       },
       py::arg("operation"), py::arg("argument") = py::none(), py::arg("timeout") = py::none(),
       "Calls an operation and waits for its result, at most `timeout` seconds. Raises as "
       "`RemoteFuture.result`, and EncodeError.")
      .def(
          "submit",
          [](remote_handle& x, std::string_view operation, const any_object& argument,
             std::optional<double> timeout) {
            return x.submit(operation, argument.ptr(), timeout);
          },
          py::arg("operation"), py::arg("argument") = py::none(), py::arg("timeout") = py::none(),
          "Calls an operation and returns at once, unless there is no room (`max_unfinished`); "
          "from now on it may take `timeout` seconds. Raises EncodeError.")
      .def("submit_all", &remote_handle::submit_all, py::arg("operation"), py::arg("arguments"),
           py::kw_only(), py::arg("bulk") = false,
           "Calls an operation once for each argument and returns their futures; with `bulk` in "
           "one request to each instance. Raises EncodeError: then nothing is called.")
      .def(
          "map",
          [](remote_handle& x, std::string_view operation, const py::iterable& arguments,
             bool return_exceptions) {
            return result_list(x.map(operation, arguments, false, return_exceptions));
          },
          py::arg("operation"), py::arg("arguments"), py::kw_only(),
          py::arg("return_exceptions") = false,
          "Calls an operation once for each argument and waits for all; results in the order of "
          "the arguments. Of those that fail the first is raised, and what has not begun is "
          "cancelled; with `return_exceptions` exceptions are among the results. Raises "
          "EncodeError: then nothing is called.")
      .def(
          "bulk",
          [](remote_handle& x, std::string_view operation, const py::iterable& arguments,
             bool return_exceptions) {
            return result_list(x.map(operation, arguments, true, return_exceptions));
          },
          py::arg("operation"), py::arg("arguments"), py::kw_only(),
          py::arg("return_exceptions") = false,
          "As `map`, but in one request to each instance, whatever the mode.");
}

void bind_client(py::module_& m) {
  py::class_<remote_handle> c(
      m, "Remote", "A client of a service, of all its instances. Threads may share one.");
  c.def(py::init(&make_remote), py::arg("endpoint"), py::arg("service"), py::arg("mode") = "auto",
        py::kw_only(), py::arg("timeout") = 30.0, py::arg("parallel") = remote_options{}.parallel,
        py::arg("window") = remote_options{}.window_operations,
        py::arg("bulk_size") = remote_options{}.bulk_operations,
        py::arg("max_request_bytes") = remote_options{}.max_request_bytes,
        py::arg("max_unfinished") = remote_options{}.max_unfinished,
        py::arg("max_losses") = remote_options{}.max_losses, py::arg("liveness_timeout") = 10.0,
        py::arg("more") = py::tuple(), options_doc);
  bind_calls(c);
  c.def("send_pending", &remote_handle::send_pending,
        "Sends what was submitted as soon as the mode allows, without waiting for more calls that "
        "could go in the same request. Never waits.")
      .def("drain", &remote_handle::drain, py::arg("timeout") = py::none(),
           "Waits until nothing is unfinished, at most `timeout` seconds; returns how much is.")
      .def("wait_for_instances", &remote_handle::wait_for_instances, py::arg("n") = 1,
           py::arg("timeout") = py::none(),
           "Waits until `n` instances are known and within reach, at most `timeout` seconds; "
           "returns whether they are. Raises Closed.")
      .def_property_readonly(
          "instances",
          [](const remote_handle& x) {
            return x.at().ask([](const remote& it) { return it.instances(); });
          },
          "Instances of the service that are known and within reach.")
      .def_property_readonly(
          "unfinished",
          [](const remote_handle& x) {
            return x.at().ask([](const remote& it) { return it.unfinished(); });
          },
          "Calls that are not complete.")
      .def("conditions_now",
           [](const remote_handle& x) {
             const auto now = x.at().ask([](const remote& it) { return it.conditions(); });
             return std::make_tuple(in_seconds(now.latency), in_seconds(now.operation),
                                    now.argument_bytes, now.result_bytes);
           })
      .def("plan_now",
           [](const remote_handle& x) {
             const auto now = x.at().ask([](const remote& it) { return it.plan(); });
             return std::make_tuple(std::string{to_string(now.mode)}, now.bulk_operations,
                                    now.window_operations);
           })
      .def(
          "counters",
          [](const remote_handle& x) {
            const auto now = x.at().ask([](const remote& it) { return it.counters(); });
            py::typing::Dict<py::str, py::int_> result;
            result["submitted"] = now.submitted;
            result["done"] = now.done;
            result["failed"] = now.failed;
            result["requests"] = now.requests;
            result["repeated"] = now.repeated;
            result["refused"] = now.refused;
            return result;
          },
          "What became of calls, by name: submitted, done, failed; and requests, messages that "
          "carried them; repeated, given to another instance; refused, messages of others.")
      .def("close", &remote_handle::close,
           "Ends all waits: what is unfinished raises Closed. Idempotent.")
      .def_property_readonly("closed",
                             [](const remote_handle& x) {
                               return x.at().ask([](const remote& it) { return it.closed(); });
                             })
      .def_property_readonly(
          "forked", [](const remote_handle& x) { return x.at().forked(); },
          "Whether it belongs to a parent process.");
}

} // namespace

void bind_remote(py::module_& m) {
  bind_service(m);
  bind_future(m);
  bind_client(m);
}

} // namespace pubsub::python
