// Encoded values to Python objects, without a tree in between.
#pragma once

#include <pybind11/pybind11.h>

#include <pubsub/data_view.hpp>

#include "python_types.hpp"

namespace pubsub::python {

/// A new reference to the Python form of `x` (docs/python.md has the table). Raises DecodeError
/// where members of a set or keys of a table that differ on the wire are equal in Python.
PyObject* to_python(const data_view& x);

} // namespace pubsub::python
