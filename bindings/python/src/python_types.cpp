// SPDX-License-Identifier: BSD-3-Clause
#include "python_types.hpp"

#include <structmember.h>

#include <datetime.h>

namespace pubsub::python {

python_types types;

namespace {

PyObject* keep(const py::object& x) {
  return py::object(x).release().ptr(); // never given back: types outlive every use
}

PyTypeObject* type_of(const py::module_& module, const char* name) {
  return reinterpret_cast<PyTypeObject*>(keep(module.attr(name)));
}

void load_values() {
  auto values = py::module_::import("libpubsub.values");
  types.count = type_of(values, "Count");
  types.enum_value = type_of(values, "EnumValue");
  types.port = type_of(values, "Port");
  types.subnet = type_of(values, "Subnet");
  types.table = type_of(values, "Table");
  auto results = values.attr("PublishResult");
  const char* names[] = {"TAKEN", "UNWANTED", "DROPPED", "WOULD_BLOCK"};
  for (int i = 0; i < 4; ++i)
    types.publish_results[i] = keep(results.attr(names[i]));
  const char* protocols[] = {"unknown", "tcp", "udp", "icmp"};
  for (int i = 0; i < 4; ++i)
    types.protocols[i] = PyUnicode_InternFromString(protocols[i]);
  types.port_number_offset = slot_offset(types.port, "number");
  types.port_protocol_offset = slot_offset(types.port, "protocol");
  types.port_code_offset = slot_offset(types.port, "_code");
  auto times = py::module_::import("libpubsub.times");
  types.timestamp = type_of(times, "Timestamp");
  types.timespan = type_of(times, "Timespan");
  types.timestamp_ns_offset = slot_offset(types.timestamp, "_ns");
  types.timespan_ns_offset = slot_offset(types.timespan, "_ns");
}

void load_ipaddress() {
  auto ipaddress = py::module_::import("ipaddress");
  types.ipv4_address = type_of(ipaddress, "IPv4Address");
  types.ipv6_address = type_of(ipaddress, "IPv6Address");
  types.ipv4_network = type_of(ipaddress, "IPv4Network");
  types.ipv6_network = type_of(ipaddress, "IPv6Network");
  types.ipv4_interface = type_of(ipaddress, "IPv4Interface");
  types.ipv6_interface = type_of(ipaddress, "IPv6Interface");
}

void load_errors() {
  auto errors = py::module_::import("libpubsub.errors");
  types.closed = keep(errors.attr("Closed"));
  types.decode_error = keep(errors.attr("DecodeError"));
  types.encode_error = keep(errors.attr("EncodeError"));
  types.encode_type_error = keep(errors.attr("EncodeTypeError"));
  types.fork_error = keep(errors.attr("ForkError"));
  types.invalid_argument = keep(errors.attr("InvalidArgument"));
  types.limit_exceeded = keep(errors.attr("LimitExceeded"));
  types.error_from_code = keep(errors.attr("from_code"));
}

void load_versions() {
  auto versions = py::module_::import("libpubsub.versions");
  types.message_version = keep(versions.attr("MessageVersion"));
  types.completion = keep(versions.attr("Completion"));
}

} // namespace

std::ptrdiff_t slot_offset(PyTypeObject* type, const char* name) {
  auto descriptor = py::handle(reinterpret_cast<PyObject*>(type)).attr(name);
  if (Py_TYPE(descriptor.ptr()) != &PyMemberDescr_Type)
    throw py::type_error("a value type of libpubsub has lost its slot");
  return reinterpret_cast<PyMemberDescrObject*>(descriptor.ptr())->d_member->offset;
}

void load_python_types() {
  load_values();
  load_ipaddress();
  load_errors();
  load_versions();
  types.name_packed = PyUnicode_InternFromString("packed");
  types.name_network_address = PyUnicode_InternFromString("network_address");
  types.name_prefixlen = PyUnicode_InternFromString("prefixlen");
  types.name_scope_id = PyUnicode_InternFromString("scope_id");
  types.name_address = PyUnicode_InternFromString("address");
  types.name_raw_length = PyUnicode_InternFromString("raw_length");
  types.name_to_data = PyUnicode_InternFromString("to_data");
}

} // namespace pubsub::python
