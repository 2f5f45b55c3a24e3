// Message is a type of its own making instead of a pybind11 class: millions are made a second.
// SPDX-License-Identifier: BSD-3-Clause
#include "message.hpp"

#include <cstring>
#include <iterator>
#include <new>
#include <string>
#include <utility>

#include <pubsub/format.hpp>

#include "bind.hpp"
#include "decode.hpp"
#include "memory.hpp"
#include "raise.hpp"

namespace pubsub::python {

namespace {

struct message_object {
  PyObject_HEAD data_message msg;
  PyObject* data; // null until asked for
};

PyTypeObject* message_type = nullptr;

message_object* self_of(PyObject* self) {
  return reinterpret_cast<message_object*>(self);
}

// Runs `body` and turns what it throws into a Python exception.
template <class Body>
PyObject* guarded(Body body) noexcept {
  try {
    return body();
  } catch (py::error_already_set& e) {
    e.restore();
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
  } catch (const std::exception& e) {
    PyErr_SetString(PyExc_RuntimeError, e.what());
  }
  return nullptr;
}

void message_dealloc(PyObject* self) {
  auto* type = Py_TYPE(self);
  Py_XDECREF(self_of(self)->data);
  self_of(self)->msg.~data_message();
  type->tp_free(self);
  Py_DECREF(type);
}

PyObject* message_topic(PyObject* self, void*) {
  return guarded([&] { return make_topic(get_topic(self_of(self)->msg)); });
}

PyObject* message_data(PyObject* self, void*) {
  auto* object = self_of(self);
  if (object->data == nullptr) {
    auto* decoded = guarded([&] { return to_python(get_view(object->msg)); });
    if (decoded == nullptr)
      return nullptr;
    Py_XSETREF(object->data, decoded); // decoding may have run other threads
  }
  return new_ref(object->data);
}

PyObject* message_raw(PyObject* self, void*) {
  return guarded([&] {
    auto bytes = get_view(self_of(self)->msg).bytes();
    return checked(PyBytes_FromStringAndSize(reinterpret_cast<const char*>(bytes.data()),
                                             static_cast<Py_ssize_t>(bytes.size())));
  });
}

// The payload in place: a view keeps the message, and the message the memory it arrived in.
int message_get_buffer(PyObject* self, Py_buffer* view, int flags) {
  view->obj = nullptr;
  try {
    auto value = get_view(self_of(self)->msg);
    if (value.type() == data_type::string) {
      auto text = value.as_string();
      return PyBuffer_FillInfo(view, self, const_cast<char*>(text.data()),
                               static_cast<Py_ssize_t>(text.size()), 1, flags);
    }
    PyErr_SetString(PyExc_BufferError,
                    "a message is a buffer only if its value is a string; view() shows members");
  } catch (const std::exception& e) {
    PyErr_SetString(PyExc_BufferError, e.what());
  }
  return -1;
}

[[noreturn]] void raise_no_member(const char* wanted, data_type found) {
  raise(PyExc_TypeError, std::string("a ") + wanted + " was expected where the message has a " +
                             std::string(to_string(found)));
}

// The member of a vector at an index given by Python; may count from the end.
data_view member_at(const data_view& x, PyObject* index) {
  if (x.type() != data_type::vector)
    raise_no_member("vector", x.type());
  auto n = static_cast<Py_ssize_t>(x.size());
  auto i = PyNumber_AsSsize_t(index, PyExc_IndexError);
  if (i == -1 && PyErr_Occurred() != nullptr)
    throw py::error_already_set();
  if (i < -n || i >= n)
    raise(PyExc_IndexError, "a vector of the message has " + std::to_string(n) + " members");
  return *std::next(x.elements().begin(), i < 0 ? i + n : i);
}

PyObject* message_view(PyObject* self, PyObject* const* path, Py_ssize_t depth) {
  return guarded([&] {
    auto value = get_view(self_of(self)->msg);
    for (Py_ssize_t i = 0; i < depth; ++i)
      value = member_at(value, path[i]);
    if (value.type() != data_type::string)
      raise_no_member("string", value.type());
    return make_view(self, value.as_string());
  });
}

PyObject* message_origin_of(PyObject* self, void*) {
  return guarded([&]() -> PyObject* {
    const auto origin = get_origin(self_of(self)->msg);
    if (!origin)
      return new_ref(Py_None);
    return py::make_tuple(to_string(origin->endpoint), origin->stream, origin->sequence)
        .release()
        .ptr();
  });
}

PyObject* message_to_json(PyObject* self, PyObject*) {
  return guarded([&] {
    auto& msg = self_of(self)->msg;
    auto text = to_json(get_topic(msg), get_view(msg));
    return checked(
        PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "surrogateescape"));
  });
}

PyObject* message_pair(PyObject* self) {
  auto topic = py::reinterpret_steal<py::object>(message_topic(self, nullptr));
  auto data = py::reinterpret_steal<py::object>(topic ? message_data(self, nullptr) : nullptr);
  return data ? PyTuple_Pack(2, topic.ptr(), data.ptr()) : nullptr;
}

PyObject* message_iter(PyObject* self) {
  auto pair = py::reinterpret_steal<py::object>(message_pair(self));
  return pair ? PyObject_GetIter(pair.ptr()) : nullptr;
}

PyObject* message_repr(PyObject* self) {
  auto pair = py::reinterpret_steal<py::object>(message_pair(self));
  if (pair)
    return PyUnicode_FromFormat("Message(topic=%R, data=%R)", PyTuple_GET_ITEM(pair.ptr(), 0),
                                PyTuple_GET_ITEM(pair.ptr(), 1));
  if (PyErr_ExceptionMatches(types.decode_error) == 0)
    return nullptr;
  PyErr_Clear();
  return PyUnicode_FromString("Message(<data without a form in Python>)");
}

PyGetSetDef message_properties[] = {
    {"topic", message_topic, nullptr,
     "(self) -> str\n\nThe topic; bytes that are not UTF-8 are surrogate escapes.", nullptr},
    {"data", message_data, nullptr,
     "(self) -> typing.Any\n\nThe value, decoded on first access. Raises DecodeError where it has "
     "no faithful "
     "form in Python.",
     nullptr},
    {"origin", message_origin_of, nullptr,
     "(self) -> tuple[str, int, int] | None\n\nWho published it, and which of its messages it is: "
     "endpoint id, stream, number in the stream. None for messages of this process that were not "
     "encoded, and of version-1 peers. Counts from the beginning of the batch it came in.",
     nullptr},
    {"raw", message_raw, nullptr, "(self) -> bytes\n\nThe value as encoded bytes (format bin::v1).",
     nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

PyMethodDef message_methods[] = {
    {"to_json", message_to_json, METH_NOARGS,
     "to_json(self) -> str\n\nTopic and value as a json::v1 data "
     "message, as Zeek's WebSocket clients see it."},
    {"view", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(message_view)),
     METH_FASTCALL,
     "view(self, *path: int) -> memoryview\n\nThe bytes of a string in the value, read-only and in "
     "place: `path` are the indices that lead to it through vectors. The view keeps the message's "
     "memory. Raises IndexError, or TypeError where there is no vector or string."},
    {nullptr, nullptr, 0, nullptr}};

const char message_doc[] =
    "A received message. ``topic, data = message`` takes it apart; it may be kept as long as "
    "needed. Where the value is a string, the message is a read-only buffer of its bytes: "
    "``memoryview(message)`` and ``numpy.frombuffer(message)`` copy nothing.";

PyType_Slot message_slots[] = {{Py_tp_dealloc, reinterpret_cast<void*>(message_dealloc)},
                               {Py_tp_getset, message_properties},
                               {Py_tp_methods, message_methods},
                               {Py_tp_iter, reinterpret_cast<void*>(message_iter)},
                               {Py_tp_repr, reinterpret_cast<void*>(message_repr)},
                               {Py_bf_getbuffer, reinterpret_cast<void*>(message_get_buffer)},
                               {Py_tp_doc, const_cast<char*>(message_doc)},
                               {0, nullptr}};

PyType_Spec message_spec = {"libpubsub._core.Message", sizeof(message_object), 0,
                            Py_TPFLAGS_DEFAULT, message_slots};

} // namespace

PyObject* make_message(data_message msg) {
  auto* self = checked(message_type->tp_alloc(message_type, 0));
  new (&self_of(self)->msg) data_message(std::move(msg));
  self_of(self)->data = nullptr;
  return self;
}

const data_message& message_in(py::handle x) {
  if (!Py_IS_TYPE(x.ptr(), message_type))
    raise(PyExc_TypeError,
          std::string("a Message was expected, not a ") + Py_TYPE(x.ptr())->tp_name);
  return self_of(x.ptr())->msg;
}

// Streams stay on few topics: the last one is kept.
PyObject* make_topic(std::string_view topic) {
  static std::string last;
  static PyObject* text = nullptr;
  if (text == nullptr || last != topic) {
    auto* fresh = checked(PyUnicode_DecodeUTF8(topic.data(), static_cast<Py_ssize_t>(topic.size()),
                                               "surrogateescape"));
    last = topic;
    Py_XSETREF(text, fresh);
  }
  return new_ref(text);
}

std::string topic_bytes(const py::str& topic) {
  auto bytes = py::reinterpret_steal<py::object>(
      checked(PyUnicode_AsEncodedString(topic.ptr(), "utf-8", "surrogateescape")));
  return {PyBytes_AS_STRING(bytes.ptr()), static_cast<std::size_t>(PyBytes_GET_SIZE(bytes.ptr()))};
}

void bind_message(py::module_& m) {
  message_type = reinterpret_cast<PyTypeObject*>(checked(PyType_FromSpec(&message_spec)));
  message_type->tp_new = nullptr; // only the library makes messages
  auto type = py::handle(reinterpret_cast<PyObject*>(message_type));
  type.attr("__match_args__") = py::make_tuple("topic", "data");
  m.attr("Message") = type;
}

} // namespace pubsub::python
