// What Zeek puts into strings in a format of its own.
#include <pybind11/pybind11.h>

#include <pubsub/binary.hpp>
#include <pubsub/zeek/message.hpp>

#include "bind.hpp"
#include "decode.hpp"
#include "raise.hpp"
#include "typed.hpp"

namespace pubsub::python {

namespace {

any_object parse_log_values(const py::bytes& serialized) {
  auto values = value_or_raise(zeek::parse_log_values(std::string_view(serialized)));
  auto encoded = value_or_raise(encode_binary(data{std::move(values)}));
  return any_object::own(to_python(data_view::from_valid(encoded)));
}

} // namespace

void bind_zeek(py::module_& m) {
  m.def("parse_log_values", parse_log_values, py::arg("serialized"),
        "Reads the record in a LogWrite of Zeek: a tuple with one value for each column, None "
        "where it is unset. Raises DecodeError, NotSupported for a type that logs cannot hold, or "
        "LimitExceeded for more than 64 containers inside each other.");
}

} // namespace pubsub::python
