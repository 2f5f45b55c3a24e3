// Timestamp and Timespan objects from nanoseconds, and nanoseconds from datetime and timedelta.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <pybind11/pybind11.h>

#include <pubsub/value/time.hpp>

#include "python_types.hpp"

namespace pubsub::python {

/// Imports the C API of datetime; call once, from module init.
void load_datetime();

/// A new reference. Fast: does not run the constructor of the class.
PyObject* make_timestamp(timestamp x);
PyObject* make_timespan(timespan x);

bool is_datetime(PyObject* x) noexcept;
bool is_timedelta(PyObject* x) noexcept;
/// From an aware datetime or a Timestamp. Raises EncodeError for a naive one and beyond 64 bits.
timestamp to_timestamp(PyObject* x);
/// From a timedelta or a Timespan. Raises EncodeError beyond 64 bits.
timespan to_timespan(PyObject* x);

} // namespace pubsub::python
