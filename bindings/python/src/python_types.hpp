// The Python types that values are made of, looked up once when the module is imported.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include <pybind11/pybind11.h>

namespace pubsub::python {

namespace py = pybind11;

/// Borrowed references that live as long as the interpreter; read with the GIL held.
struct python_types {
  PyTypeObject* count = nullptr;
  PyTypeObject* enum_value = nullptr;
  PyTypeObject* port = nullptr;
  PyTypeObject* subnet = nullptr;
  PyTypeObject* table = nullptr;
  PyTypeObject* timestamp = nullptr;
  PyTypeObject* timespan = nullptr;
  PyTypeObject* ipv4_address = nullptr;
  PyTypeObject* ipv6_address = nullptr;
  PyTypeObject* ipv4_network = nullptr;
  PyTypeObject* ipv6_network = nullptr;
  PyTypeObject* ipv4_interface = nullptr;
  PyTypeObject* ipv6_interface = nullptr;
  /// Where Timestamp and Timespan keep their nanoseconds, a reference to an int.
  std::ptrdiff_t timestamp_ns_offset = 0;
  std::ptrdiff_t timespan_ns_offset = 0;
  std::ptrdiff_t port_number_offset = 0;
  std::ptrdiff_t port_protocol_offset = 0;
  std::ptrdiff_t port_code_offset = 0;
  /// Members of PublishResult, in the order of `publish_result`.
  PyObject* publish_results[4] = {};
  /// Names of protocols, in the order of `transport`.
  PyObject* protocols[4] = {};
  /// Exceptions made by the bindings themselves.
  PyObject* closed = nullptr;
  PyObject* decode_error = nullptr;
  PyObject* encode_error = nullptr;
  PyObject* encode_type_error = nullptr;
  PyObject* fork_error = nullptr;
  PyObject* invalid_argument = nullptr;
  PyObject* limit_exceeded = nullptr;
  PyObject* error_from_code = nullptr;
  /// Of versioned delivery.
  PyObject* message_version = nullptr;
  PyObject* completion = nullptr;
  /// Interned attribute names.
  PyObject* name_packed = nullptr;
  PyObject* name_network_address = nullptr;
  PyObject* name_prefixlen = nullptr;
  PyObject* name_scope_id = nullptr;
  PyObject* name_address = nullptr;
  PyObject* name_raw_length = nullptr;
  PyObject* name_to_data = nullptr;
};

/// A new reference to `x`.
inline PyObject* new_ref(PyObject* x) noexcept {
  Py_INCREF(x);
  return x;
}

/// Hides `x` from the garbage collector and returns it. Values that arrive are frozen and made from
/// the leaves up, so no cycle can run through them, and visiting them again and again would cost
/// more than making them.
inline PyObject* without_gc(PyObject* x) noexcept {
  PyObject_GC_UnTrack(x);
  return x;
}

/// The slot of a `__slots__` class at `offset`; holds a reference or null.
inline PyObject*& slot(PyObject* instance, std::ptrdiff_t offset) {
  return *reinterpret_cast<PyObject**>(reinterpret_cast<char*>(instance) + offset);
}

/// Where a `__slots__` class keeps the attribute `name`, for `slot`. Raises TypeError where that is
/// no slot.
std::ptrdiff_t slot_offset(PyTypeObject* type, const char* name);

/// Filled by `load_python_types`.
extern python_types types;

/// Imports the package's Python modules; throws error_already_set. Call once, from module init.
void load_python_types();

} // namespace pubsub::python
