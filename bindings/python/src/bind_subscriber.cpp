// SPDX-License-Identifier: BSD-3-Clause
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "bind.hpp"
#include "endpoint_handle.hpp"
#include "message.hpp"
#include "options.hpp"
#include "subscriber_handle.hpp"
#include "typed.hpp"

namespace pubsub::python {

namespace {

const char subscriber_doc[] = "Receives the messages of some topics through a bounded queue. "
                              "Threads may share one: they take turns.";

// Iteration by slot instead of by a bound method: it runs once for every message.
PyObject* iterate_next(PyObject* self) {
  try {
    return py::cast<subscriber_handle&>(py::handle(self)).next();
  } catch (py::error_already_set& e) {
    e.restore();
  } catch (const py::builtin_exception& e) {
    e.set_error();
  } catch (const std::exception& e) {
    PyErr_SetString(PyExc_RuntimeError, e.what());
  }
  return nullptr;
}

void set_iteration_slots(PyHeapTypeObject* type) {
  type->ht_type.tp_iter = PyObject_SelfIter;
  type->ht_type.tp_iternext = iterate_next;
}

std::unique_ptr<subscriber_handle> make_subscriber(const endpoint_handle& owner,
                                                   const std::vector<py::str>& topics,
                                                   std::size_t capacity, std::size_t capacity_bytes,
                                                   const std::string& policy,
                                                   const std::optional<condition>& where) {
  owner.open();
  return std::make_unique<subscriber_handle>(owner.share(), make_filter(topics),
                                             make_queue_options(capacity, capacity_bytes, policy),
                                             where);
}

message_or_none next_nowait(subscriber_handle& x) {
  auto* message = x.next_nowait();
  if (message == nullptr)
    throw py::stop_iteration();
  return message_or_none::own(message);
}

void bind_reading(py::class_<subscriber_handle>& c) {
  c.def(
       "get",
       [](subscriber_handle& x, std::optional<double> timeout) {
         return message_or_none::own(x.get(timeout));
       },
       py::arg("timeout") = py::none(),
       "Waits for the next message, at most `timeout` seconds, for ever by default. Returns None "
       "on "
       "time-out. Raises Closed once the subscriber or its endpoint is closed and nothing is left.")
      .def(
          "get_batch",
          [](subscriber_handle& x, std::size_t max, std::optional<double> timeout) {
            return message_list::own(x.get_batch(max, timeout));
          },
          py::arg("max") = 1024, py::arg("timeout") = py::none(),
          "Waits for at least one message, then takes what is there, at most `max`. Returns an "
          "empty list on "
          "time-out. Raises Closed as `get` does.")
      .def(
          "poll", [](subscriber_handle& x) { return message_list::own(x.poll()); },
          "Everything that is there, at once; possibly nothing. Never raises Closed.")
      .def("next_nowait", next_nowait,
           "The next message, or None where there is none yet. Raises StopIteration at the end.");
}

} // namespace

void bind_subscriber(py::module_& m) {
  py::class_<readiness_handle>(m, "Readiness", "Whether a subscription is known everywhere.")
      .def("fileno", &readiness_handle::fd,
           "A descriptor that is readable once this is ready, or never will be.")
      .def_property_readonly("ready", &readiness_handle::ready,
                             "Whether every node within reach knows the subscription.");
  py::class_<subscriber_handle> c(m, "Subscriber", subscriber_doc,
                                  py::custom_type_setup(set_iteration_slots));
  c.def(py::init(&make_subscriber), py::arg("endpoint"), py::arg("topics"), py::arg("capacity"),
        py::arg("capacity_bytes"), py::arg("policy"), py::arg("where"));
  bind_reading(c);
  c.def("fileno", &subscriber_handle::fd,
        "A descriptor that is readable while a message is available or the subscriber is closed "
        "(level-triggered), for select, poll and event loops; do not read from it. An iteration "
        "that was "
        "broken off may leave messages that it does not show: call `poll` before waiting on it.")
      .def("available", &subscriber_handle::available,
           "Number of messages that can be taken without waiting.")
      .def(
          "add_topic",
          [](subscriber_handle& x, const py::str& prefix) { x.add_topic(topic_bytes(prefix)); },
          py::arg("prefix"),
          "Also receive topics that start with `prefix`. Effective here when the call returns; "
          "peers follow.")
      .def(
          "remove_topic",
          [](subscriber_handle& x, const py::str& prefix) { x.remove_topic(topic_bytes(prefix)); },
          py::arg("prefix"), "Removes exactly this prefix; others that also match keep matching.")
      .def_property_readonly(
          "topics", [](const subscriber_handle& x) { return topic_names(x.topics()); },
          "The prefixes subscribed to, sorted, without those that another one covers.")
      .def(
          "wait_ready", &subscriber_handle::wait_ready, py::arg("timeout") = py::none(),
          "Waits until every node within reach knows this subscription, at most `timeout` seconds: "
          "what they publish from then on arrives. Returns whether they do.")
      .def("_begin_ready", &subscriber_handle::begin_ready, "Begins to find out the same.")
      .def("counters", &subscriber_handle::counters, "What came and what became of it.")
      .def_property_readonly("closed", &subscriber_handle::closed,
                             "Whether the subscription has ended.")
      .def("close", &subscriber_handle::close,
           "Ends the subscription; what is queued is discarded and counted. Idempotent.");
}

} // namespace pubsub::python
