// Values to bytes and text, and back, without any messaging.
// SPDX-License-Identifier: BSD-3-Clause
#include <string>

#include <pybind11/pybind11.h>

#include <pubsub/binary.hpp>
#include <pubsub/data_view.hpp>
#include <pubsub/format.hpp>

#include "bind.hpp"
#include "decode.hpp"
#include "encode.hpp"
#include "raise.hpp"
#include "typed.hpp"

namespace pubsub::python {

namespace {

std::span<const std::byte> span_of(const py::bytes& x) {
  std::string_view text = x;
  return std::as_bytes(std::span(text.data(), text.size()));
}

py::str to_text(const std::string& x) {
  return py::reinterpret_steal<py::str>(checked(
      PyUnicode_DecodeUTF8(x.data(), static_cast<Py_ssize_t>(x.size()), "surrogateescape")));
}

py::bytes encode_value(const any_object& value) {
  scratch_writer out;
  encode(value.ptr(), *out);
  auto bytes = out->bytes();
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

any_object decode_value(const py::bytes& data) {
  return any_object::own(to_python(value_or_raise(data_view::make(span_of(data)))));
}

py::str value_to_json(const any_object& value) {
  scratch_writer out;
  encode(value.ptr(), *out);
  return to_text(to_json(data_view::from_valid(out->bytes())));
}

#ifdef PUBSUB_HAS_JSON
any_object value_from_json(const py::str& text) {
  auto bytes = py::reinterpret_steal<py::bytes>(
      checked(PyUnicode_AsEncodedString(text.ptr(), "utf-8", "surrogateescape")));
  auto value = value_or_raise(from_json(std::string_view(bytes)));
  auto encoded = value_or_raise(encode_binary(value));
  return any_object::own(to_python(data_view::from_valid(encoded)));
}
#else
any_object value_from_json(const py::str&) {
  raise(error{errc::not_supported,
              "this build of libpubsub cannot read JSON: simdjson was not found"});
}
#endif

} // namespace

void bind_data(py::module_& m) {
  m.def("encode", encode_value, py::arg("value"),
        "Encodes `value` in Zeek's binary format (bin::v1). Raises EncodeError, or EncodeTypeError "
        "for a "
        "type that has no counterpart.");
  m.def(
      "decode", decode_value, py::arg("data"),
      "Decodes exactly one value in bin::v1. Raises DecodeError, or LimitExceeded for more than 64 "
      "containers inside each other.");
  m.def("to_json", value_to_json, py::arg("value"),
        "Renders `value` as json::v1. Raises as `encode` does.");
  m.def("from_json", value_from_json, py::arg("text"),
        "Reads one json::v1 value. Raises DecodeError, or NotSupported in a build without a JSON "
        "parser.");
}

} // namespace pubsub::python
