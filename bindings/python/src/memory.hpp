// Memory that a Python object owns, shown to Python in place.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string_view>

#include <pybind11/pybind11.h>

#include "python_types.hpp"

namespace pubsub::python {

/// A new reference to a read-only memoryview of `bytes`, which must stay where they are as long as
/// `owner` lives; the view keeps `owner` alive.
PyObject* make_view(PyObject* owner, std::string_view bytes);

} // namespace pubsub::python
