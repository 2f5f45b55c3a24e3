// SPDX-License-Identifier: BSD-3-Clause
#include "raise.hpp"

namespace pubsub::python {

void raise(PyObject* type, const std::string& message) {
  PyErr_SetString(type, message.c_str());
  throw py::error_already_set();
}

py::object to_exception(const error& err) {
  return py::handle(types.error_from_code)(std::string(to_string(err.code())), err.message());
}

void raise(const error& err) {
  const auto instance = to_exception(err);
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(instance.ptr())), instance.ptr());
  throw py::error_already_set();
}

} // namespace pubsub::python
