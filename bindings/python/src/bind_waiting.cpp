// What threads of Python wait with.
// SPDX-License-Identifier: BSD-3-Clause
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "bind.hpp"
#include "waiting.hpp"

namespace pubsub::python {

void bind_waiting(py::module_& m) {
  py::class_<event>(m, "Event",
                    "A flag that threads wait for. What `threading.Event` is, but Ctrl-C ends the "
                    "wait whenever it comes.")
      .def(py::init())
      .def("set", &event::set, "Ends all waits.")
      .def("clear", &event::clear, "Lets them wait again.")
      .def("is_set", &event::is_set)
      .def("wait", &event::wait, py::arg("timeout") = py::none(),
           "Waits until it is set, at most `timeout` seconds; returns whether it is.");
  m.def(
      "join_background_work", [](double limit) { join_background_work(to_milliseconds(limit)); },
      py::arg("limit"),
      "Waits at most `limit` seconds until calls that Ctrl-C has interrupted have ended in the "
      "background.");
}

} // namespace pubsub::python
