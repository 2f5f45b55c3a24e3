// libpubsub._core: the compiled half of the package. People use what libpubsub/__init__.py exports.
// SPDX-License-Identifier: BSD-3-Clause
#include <pybind11/pybind11.h>

#include "bind.hpp"
#include "times.hpp"
#include "waiting.hpp"

namespace pubsub::python {

namespace {

/// An object whose `__init__` was not called, or raised, has nothing behind it, and can still be
/// had: in a traceback, or by a subclass that begins its own `__init__` with something else.
/// pybind11 would let methods run on memory that holds no object.
void refuse_objects_not_made(const py::module_& m) {
  for (const auto& [name, each] : py::reinterpret_borrow<py::dict>(m.attr("__dict__")))
    if (PyType_Check(each.ptr()) != 0)
      if (auto* const bound =
              py::detail::get_type_info(reinterpret_cast<PyTypeObject*>(each.ptr())))
        bound->operator_new = [](std::size_t) -> void* {
          throw py::type_error("the object was not made: its __init__ was not called, or raised");
        };
}

} // namespace

} // namespace pubsub::python

PYBIND11_MODULE(_core, m) {
  using namespace pubsub::python;
  m.doc() = "Compiled half of libpubsub.";
  m.attr("version") = PUBSUB_VERSION;
  load_python_types();
  load_datetime();
  fork_guard::install();
  find_main_thread();
  bind_waiting(m);
  bind_data(m);
  bind_message(m);
  bind_condition(m);
  bind_counters(m);
  bind_endpoint(m);
  bind_status(m);
  bind_network(m);
  bind_publisher(m);
  bind_subscriber(m);
  bind_zeek(m);
  bind_pipeline(m);
  bind_versioned(m);
  bind_remote(m);
#ifdef PUBSUB_HAS_RECORD
  bind_record(m);
#endif
#ifdef PUBSUB_HAS_BRIDGE
  bind_bridge(m);
#endif
  refuse_objects_not_made(m);
}
