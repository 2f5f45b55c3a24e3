// SPDX-License-Identifier: BSD-3-Clause
#include "memory.hpp"

#include <new>

#include "raise.hpp"

namespace pubsub::python {

namespace {

struct memory_object {
  PyObject_HEAD PyObject* owner;
  std::string_view bytes;
};

memory_object* self_of(PyObject* self) {
  return reinterpret_cast<memory_object*>(self);
}

void memory_dealloc(PyObject* self) {
  auto* type = Py_TYPE(self);
  Py_DECREF(self_of(self)->owner);
  type->tp_free(self);
  Py_DECREF(type);
}

int memory_get_buffer(PyObject* self, Py_buffer* view, int flags) {
  auto bytes = self_of(self)->bytes;
  return PyBuffer_FillInfo(view, self, const_cast<char*>(bytes.data()),
                           static_cast<Py_ssize_t>(bytes.size()), 1, flags);
}

PyType_Slot memory_slots[] = {{Py_tp_dealloc, reinterpret_cast<void*>(memory_dealloc)},
                              {Py_bf_getbuffer, reinterpret_cast<void*>(memory_get_buffer)},
                              {0, nullptr}};

PyType_Spec memory_spec = {"libpubsub._core._Memory", sizeof(memory_object), 0, Py_TPFLAGS_DEFAULT,
                           memory_slots};

} // namespace

PyObject* make_view(PyObject* owner, std::string_view bytes) {
  static auto* type = reinterpret_cast<PyTypeObject*>(checked(PyType_FromSpec(&memory_spec)));
  auto memory = py::reinterpret_steal<py::object>(checked(type->tp_alloc(type, 0)));
  self_of(memory.ptr())->owner = new_ref(owner);
  new (&self_of(memory.ptr())->bytes) std::string_view(bytes);
  return checked(PyMemoryView_FromObject(memory.ptr()));
}

} // namespace pubsub::python
