// Encoded values to Python objects, without a tree in between.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string_view>

#include <pybind11/pybind11.h>

#include <pubsub/data_view.hpp>

#include "python_types.hpp"

namespace pubsub::python {

/// A new reference to the Python form of `x` (docs/python.md has the table). Raises DecodeError
/// where members of a set or keys of a table that differ on the wire are equal in Python.
PyObject* to_python(const data_view& x);
/// The same of a string: str where it is valid UTF-8, bytes otherwise.
PyObject* to_python(std::string_view x);

} // namespace pubsub::python
