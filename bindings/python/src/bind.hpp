// One registering function for each noun of the module.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <pybind11/pybind11.h>

#include "python_types.hpp"

namespace pubsub::python {

void bind_waiting(py::module_& m);
void bind_data(py::module_& m);
void bind_message(py::module_& m);
void bind_condition(py::module_& m);
void bind_counters(py::module_& m);
void bind_status(py::module_& m);
void bind_network(py::module_& m);
void bind_endpoint(py::module_& m);
void bind_publisher(py::module_& m);
void bind_subscriber(py::module_& m);
void bind_zeek(py::module_& m);
void bind_pipeline(py::module_& m);
void bind_versioned(py::module_& m);
void bind_remote(py::module_& m);
/// Only where the component pubsub::record is built.
void bind_record(py::module_& m);
/// Only where the component pubsub::bridge is built.
void bind_bridge(py::module_& m);

} // namespace pubsub::python
