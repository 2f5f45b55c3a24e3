// SPDX-License-Identifier: BSD-3-Clause
#include "decode.hpp"

#include "object_cache.hpp"
#include "raise.hpp"
#include "times.hpp"

namespace pubsub::python {

namespace {

PyObject* make_vector(const data_view& x) {
  auto n = static_cast<Py_ssize_t>(x.size());
  auto result = own(PyTuple_New(n));
  auto member = x.elements().begin();
  for (Py_ssize_t i = 0; i < n; ++i) {
    if (i != 0)
      ++member; // only where another one follows: passing a container walks it
    PyTuple_SET_ITEM(result.ptr(), i, to_python(*member));
  }
  return without_gc(result.release().ptr());
}

PyObject* make_set(const data_view& x) {
  auto n = x.size();
  if (n == 0)
    return make_empty_set();
  auto result = own(PyFrozenSet_New(nullptr));
  for (auto member : x.elements()) {
    auto value = own(to_python(member));
    if (PySet_Add(result.ptr(), value.ptr()) != 0)
      throw py::error_already_set();
  }
  if (static_cast<std::size_t>(PySet_GET_SIZE(result.ptr())) != n)
    raise(types.decode_error,
          "a set with members that differ in type only and are equal in Python, "
          "such as 1 and 1.0");
  return without_gc(result.release().ptr());
}

PyObject* make_table(const data_view& x) {
  auto n = x.size();
  auto none = own(PyTuple_New(0));
  auto result = own(PyDict_Type.tp_new(types.table, none.ptr(), nullptr));
  for (auto [k, v] : x.entries()) {
    auto key = own(to_python(k));
    auto value = own(to_python(v));
    if (PyDict_SetItem(result.ptr(), key.ptr(), value.ptr()) != 0)
      throw py::error_already_set();
  }
  if (static_cast<std::size_t>(PyDict_GET_SIZE(result.ptr())) != n)
    raise(types.decode_error, "a table with keys that differ in type only and are equal in Python, "
                              "such as 1 and 1.0");
  return without_gc(result.release().ptr());
}

} // namespace

PyObject* to_python(std::string_view x) {
  auto size = static_cast<Py_ssize_t>(x.size());
  auto* text = x.size() <= short_text_bytes ? make_short_text(x)
                                            : PyUnicode_DecodeUTF8(x.data(), size, nullptr);
  if (text != nullptr)
    return text;
  if (!PyErr_ExceptionMatches(PyExc_UnicodeDecodeError))
    throw py::error_already_set();
  PyErr_Clear();
  return checked(PyBytes_FromStringAndSize(x.data(), size));
}

PyObject* to_python(const data_view& x) {
  switch (x.type()) {
  case data_type::none:
    return new_ref(Py_None);
  case data_type::boolean:
    return new_ref(x.as_boolean() ? Py_True : Py_False);
  case data_type::count:
    return make_count(x.as_count());
  case data_type::integer:
    return checked(PyLong_FromLongLong(x.as_integer()));
  case data_type::real:
    return checked(PyFloat_FromDouble(x.as_real()));
  case data_type::string:
    return to_python(x.as_string());
  case data_type::address:
    return make_address(x.as_address());
  case data_type::subnet:
    return make_subnet(x.as_subnet());
  case data_type::port:
    return make_port(x.as_port());
  case data_type::timestamp:
    return make_timestamp(x.as_timestamp());
  case data_type::timespan:
    return make_timespan(x.as_timespan());
  case data_type::enum_value:
    return make_enum(x.as_enum());
  case data_type::set:
    return make_set(x);
  case data_type::table:
    return make_table(x);
  case data_type::vector:
    return make_vector(x);
  }
  raise(types.decode_error, "a value of unknown type");
}

} // namespace pubsub::python
