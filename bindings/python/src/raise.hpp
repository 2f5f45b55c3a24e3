// Turning the library's errors into the package's exceptions.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include <pybind11/pybind11.h>

#include <pubsub/error.hpp>

#include "python_types.hpp"

namespace pubsub::python {

/// Sets an exception of `type` with `message` and throws error_already_set.
[[noreturn]] void raise(PyObject* type, const std::string& message);
/// The exception that stands for `err` (libpubsub.errors.from_code).
py::object to_exception(const error& err);
/// Raises it.
[[noreturn]] void raise(const error& err);

/// Throws error_already_set if `result` is null, the way C API functions report failure.
inline PyObject* checked(PyObject* result) {
  if (result == nullptr)
    throw py::error_already_set();
  return result;
}

/// The same as an object that is released by itself.
inline py::object own(PyObject* result) {
  return py::reinterpret_steal<py::object>(checked(result));
}

/// The value of `x`, or the exception that stands for its error.
template <class T>
T value_or_raise(expected<T> x) {
  if (!x)
    raise(x.error());
  return std::move(*x);
}
inline void value_or_raise(const expected<void>& x) {
  if (!x)
    raise(x.error());
}

} // namespace pubsub::python
