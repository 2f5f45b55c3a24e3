// Zeek's events as Python objects, and what Zeek puts into strings in a format of its own.
// SPDX-License-Identifier: BSD-3-Clause
#include <utility>

#include <pybind11/pybind11.h>

#include <pubsub/binary.hpp>
#include <pubsub/zeek/event.hpp>
#include <pubsub/zeek/message.hpp>

#include "bind.hpp"
#include "decode.hpp"
#include "message.hpp"
#include "raise.hpp"
#include "times.hpp"
#include "typed.hpp"

namespace pubsub::python {

namespace {

any_object parse_log_values(const py::bytes& serialized) {
  auto values = value_or_raise(zeek::parse_log_values(std::string_view(serialized)));
  auto encoded = value_or_raise(encode_binary(data{std::move(values)}));
  return any_object::own(to_python(data_view::from_valid(encoded)));
}

/// Makes objects of the Python class Event, without a value of Python in between.
class event_reader {
public:
  explicit event_reader(const py::type& event)
      : event_(event), parse_(event.attr("parse")), name_(offset("name")), args_(offset("args")),
        timestamp_(offset("timestamp")), topic_(offset("topic")),
        traceparent_(offset("_traceparent")), tracestate_(offset("_tracestate")) {}

  /// The event in a Message, None if there is none. What is not just as Zeek sends it is up to
  /// Event.parse.
  py::object operator()(const py::handle& message) const {
    const auto& msg = message_in(message);
    const auto event = zeek::view_event(get_view(msg));
    auto result = event ? make(*event) : py::none();
    if (result.is_none())
      result = parse_(message.attr("data"));
    if (!result.is_none())
      set(result, topic_, own(make_topic(get_topic(msg))));
    return result;
  }

private:
  std::ptrdiff_t offset(const char* name) const { return slot_offset(type(), name); }

  PyTypeObject* type() const { return reinterpret_cast<PyTypeObject*>(event_.ptr()); }

  static void set(const py::object& event, std::ptrdiff_t offset, py::object value) {
    Py_XSETREF(slot(event.ptr(), offset), value.release().ptr());
  }

  static py::object text_or_none(std::string_view ascii) {
    return ascii.empty() ? py::object(py::none()) : py::object(py::str(ascii));
  }

  /// None if the name is no text.
  py::object make(const zeek::event_view& event) const {
    auto name = own(to_python(event.name()));
    if (!PyUnicode_Check(name.ptr()))
      return py::none();
    auto result = own(type()->tp_alloc(type(), 0));
    set(result, name_, std::move(name));
    set(result, args_, own(to_python(event.args_view())));
    const auto time = event.network_time();
    set(result, timestamp_, time ? own(make_timestamp(*time)) : py::none());
    set(result, traceparent_, text_or_none(event.traceparent()));
    set(result, tracestate_, text_or_none(event.tracestate()));
    return result;
  }

  py::object event_;
  py::object parse_;
  std::ptrdiff_t name_;
  std::ptrdiff_t args_;
  std::ptrdiff_t timestamp_;
  std::ptrdiff_t topic_;
  std::ptrdiff_t traceparent_;
  std::ptrdiff_t tracestate_;
};

} // namespace

void bind_zeek(py::module_& m) {
  m.def(
      "event_reader",
      [](const py::type& event) {
        return any_object::own(py::cpp_function(event_reader(event)).release().ptr());
      },
      py::arg("event"),
      "A function that turns a Message into an object of the class `event`, which is that of "
      "Zeek's events, or into None where it holds none. The function raises DecodeError as "
      "`Message.data` does.");
  m.def("parse_log_values", parse_log_values, py::arg("serialized"),
        "Reads the record in a LogWrite of Zeek: a tuple with one value for each column, None "
        "where it is unset. Raises DecodeError, NotSupported for a type that logs cannot hold, or "
        "LimitExceeded for more than 64 containers inside each other.");
}

} // namespace pubsub::python
