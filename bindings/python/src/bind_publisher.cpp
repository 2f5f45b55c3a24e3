// SPDX-License-Identifier: BSD-3-Clause
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "bind.hpp"
#include "endpoint_handle.hpp"
#include "message.hpp"
#include "publisher_handle.hpp"
#include "raise.hpp"
#include "typed.hpp"

namespace pubsub::python {

namespace {

py::object topic_of(const publisher_handle& x) {
  return own(make_topic(x.topic()));
}

const char publisher_doc[] =
    "Publishes to one topic; faster than ``Endpoint.publish``. Several threads may use one. Every "
    "subscriber sees the messages of one publisher in the order of publishing.";

} // namespace

void bind_publisher(py::module_& m) {
  py::class_<publisher_handle, std::shared_ptr<publisher_handle>>(m, "Publisher", publisher_doc)
      .def(py::init([](const endpoint_handle& owner, const py::str& topic) {
             return owner.make_publisher(topic_bytes(topic));
           }),
           py::arg("endpoint"), py::arg("topic"),
           "Raises InvalidArgument for a topic that cannot be used, Closed.")
      .def_property_readonly("topic",
                             [](const publisher_handle& x) { return py::str(topic_of(x)); })
      .def(
          "publish",
          [](publisher_handle& x, const any_object& value, std::optional<double> timeout) {
            return publish_result_object::own(x.publish(value.ptr(), timeout));
          },
          py::arg("value"), py::arg("timeout") = py::none(),
          "Publishes `value`. Waits while a queue with policy `block` is full, at most `timeout` "
          "seconds: then the result is WOULD_BLOCK, and nobody got the message. Raises "
          "EncodeError, LimitExceeded for a value longer than a frame may be, Closed.")
      .def(
          "try_publish",
          [](publisher_handle& x, const any_object& value) {
            return publish_result_object::own(x.try_publish(value.ptr()));
          },
          py::arg("value"),
          "As `publish`, but never waits: WOULD_BLOCK says that nobody got the message.")
      .def(
          "publish_batch",
          [](publisher_handle& x, const py::iterable& values) { return x.publish_batch(values); },
          py::arg("values"),
          "Publishes every value of an iterable, one message each, and returns their number. Each "
          "is on its "
          "way before the next is taken. Raises as `publish` does; what came before has then been "
          "published.")
      .def("counters", &publisher_handle::counters, "What became of everything handed to it.")
      .def("subscribers", &publisher_handle::subscribers,
           "Number of local subscribers plus number of peers that want this topic.")
      .def("wait_for_subscribers", &publisher_handle::wait_for_subscribers, py::arg("n") = 1,
           py::arg("timeout") = py::none(),
           "Waits until at least `n` subscribers or peers want this topic, at most `timeout` "
           "seconds. "
           "Returns False on time-out.")
      .def("__repr__", [](const publisher_handle& x) {
        return py::str("Publisher(topic={!r})").format(topic_of(x));
      });
}

} // namespace pubsub::python
