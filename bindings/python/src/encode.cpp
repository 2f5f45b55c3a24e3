// SPDX-License-Identifier: BSD-3-Clause
#include "encode.hpp"

#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include <pubsub/data_view.hpp>

#include "raise.hpp"
#include "times.hpp"

namespace pubsub::python {

namespace {

void write_value(PyObject* x, data_writer& out, unsigned depth);

std::string type_name(PyObject* x) {
  return Py_TYPE(x)->tp_name;
}

bool is_instance(PyObject* x, PyTypeObject* type) {
  return PyObject_TypeCheck(x, type) != 0;
}

// -- scalars ------------------------------------------------------------------------------------

std::uint64_t to_unsigned(PyObject* x) {
  auto result = PyLong_AsUnsignedLongLong(x);
  if (result == static_cast<unsigned long long>(-1) && PyErr_Occurred() != nullptr)
    throw py::error_already_set();
  return result;
}

void write_int(PyObject* x, data_writer& out) {
  int overflow = 0;
  auto value = PyLong_AsLongLongAndOverflow(x, &overflow);
  if (overflow != 0)
    raise(types.encode_error,
          "an int beyond 64 bits signed: " + std::string(py::str(py::handle(x))) +
              (overflow > 0 ? " (Count holds up to 2**64-1)" : ""));
  if (value == -1 && PyErr_Occurred() != nullptr)
    throw py::error_already_set();
  out.write_integer(value);
}

void write_str(PyObject* x, data_writer& out) {
  Py_ssize_t size = 0;
  const auto* text = PyUnicode_AsUTF8AndSize(x, &size);
  if (text == nullptr) {
    PyErr_Clear();
    raise(types.encode_error, "a str with lone surrogates; pass bytes instead");
  }
  out.write_string({text, static_cast<std::size_t>(size)});
}

void write_enum(PyObject* x, data_writer& out) {
  auto name = own(PyUnicode_AsEncodedString(x, "utf-8", "surrogateescape"));
  out.write_enum(
      {PyBytes_AS_STRING(name.ptr()), static_cast<std::size_t>(PyBytes_GET_SIZE(name.ptr()))});
}

void write_bytes(PyObject* x, data_writer& out) {
  out.write_string({PyBytes_AS_STRING(x), static_cast<std::size_t>(PyBytes_GET_SIZE(x))});
}

// The memory of an object with the buffer protocol, borrowed for as long as this lives.
class borrowed_buffer {
public:
  explicit borrowed_buffer(PyObject* x) {
    if (PyObject_GetBuffer(x, &view_, PyBUF_ND | PyBUF_FORMAT) == 0)
      return;
    auto reason = std::string(py::str(py::error_already_set().value()));
    raise(types.encode_error, "a " + type_name(x) + " that gives no contiguous buffer (" + reason +
                                  "): pass a copy, such as bytes(x)");
  }
  ~borrowed_buffer() { PyBuffer_Release(&view_); }
  borrowed_buffer(const borrowed_buffer&) = delete;
  borrowed_buffer& operator=(const borrowed_buffer&) = delete;

  // Numbers of other libraries are buffers without dimensions, and must not pass for strings.
  bool is_array() const noexcept { return view_.ndim > 0; }
  bool has_references() const noexcept {
    return view_.format != nullptr && std::strchr(view_.format, 'O') != nullptr;
  }
  std::string_view bytes() const noexcept {
    return {static_cast<const char*>(view_.buf), static_cast<std::size_t>(view_.len)};
  }

private:
  Py_buffer view_;
};

void write_buffer(PyObject* x, data_writer& out) {
  borrowed_buffer buffer{x};
  if (!buffer.is_array() || buffer.has_references())
    raise(types.encode_type_error,
          "a " + type_name(x) +
              " that is a single number or holds references has no counterpart in the data model");
  out.write_string(buffer.bytes());
}

address to_address(PyObject* x) {
  if (is_instance(x, types.ipv4_address)) {
    auto value = own(PyNumber_Long(x));
    return address::v4(static_cast<std::uint32_t>(to_unsigned(value.ptr())));
  }
  if (auto* scope = PyObject_GetAttr(x, types.name_scope_id)) { // Python 3.9 and later
    auto guard = own(scope);
    if (scope != Py_None)
      raise(types.encode_error,
            "an IPv6 address with a zone: " + std::string(py::str(py::handle(x))));
  } else {
    PyErr_Clear();
  }
  auto packed = own(PyObject_GetAttr(x, types.name_packed));
  if (!PyBytes_Check(packed.ptr()) || PyBytes_GET_SIZE(packed.ptr()) != address::size_bytes)
    raise(types.encode_error, "an IPv6 address that is not 16 bytes");
  address::bytes_type bytes;
  std::memcpy(bytes.data(), PyBytes_AS_STRING(packed.ptr()), bytes.size());
  return address{bytes};
}

void write_network(PyObject* x, data_writer& out, unsigned offset) {
  auto network = own(PyObject_GetAttr(x, types.name_network_address));
  auto length = own(PyObject_GetAttr(x, types.name_prefixlen));
  auto raw = static_cast<std::uint8_t>(to_unsigned(length.ptr()) + offset);
  out.write_subnet(subnet::from_raw(to_address(network.ptr()), raw));
}

void write_raw_subnet(PyObject* x, data_writer& out) {
  auto network = own(PyObject_GetAttr(x, types.name_address));
  auto length = own(PyObject_GetAttr(x, types.name_raw_length));
  auto raw = static_cast<std::uint8_t>(to_unsigned(length.ptr()));
  out.write_subnet(subnet::from_raw(to_address(network.ptr()), raw));
}

void write_port(PyObject* x, data_writer& out) {
  auto* number = slot(x, types.port_number_offset);
  auto* code = slot(x, types.port_code_offset);
  if (number == nullptr || code == nullptr)
    raise(types.encode_error, "a Port that was never initialised");
  out.write_port(port{static_cast<std::uint16_t>(to_unsigned(number)),
                      static_cast<transport>(to_unsigned(code))});
}

// -- containers ---------------------------------------------------------------------------------

[[noreturn]] void raise_changed(PyObject* x) {
  raise(types.encode_error, "a " + type_name(x) + " that changed while it was being encoded");
}

void write_sequence(PyObject* x, data_writer& out, unsigned depth) {
  auto n = PySequence_Fast_GET_SIZE(x);
  out.begin_vector(static_cast<std::size_t>(n));
  for (Py_ssize_t i = 0; i < n; ++i) {
    if (i >= PySequence_Fast_GET_SIZE(x))
      raise_changed(x);
    auto member = py::reinterpret_borrow<py::object>(PySequence_Fast_GET_ITEM(x, i));
    write_value(member.ptr(), out, depth);
  }
  if (PySequence_Fast_GET_SIZE(x) != n)
    raise_changed(x);
}

// Members are written one after the other and then put in order as values: the order of the wire is
// that of `data`, which neither Python nor the encoded bytes give.
void write_set(PyObject* x, data_writer& out, unsigned depth) {
  auto start = out.size_bytes();
  std::vector<std::size_t> offsets;
  for (auto iterator = own(PyObject_GetIter(x));;) {
    auto member = py::reinterpret_steal<py::object>(PyIter_Next(iterator.ptr()));
    if (!member)
      break;
    offsets.push_back(out.size_bytes());
    write_value(member.ptr(), out, depth);
  }
  if (PyErr_Occurred() != nullptr)
    throw py::error_already_set();
  set members;
  for (auto offset : offsets)
    members.insert(data_view::from_valid(out.bytes().subspan(offset)).to_data());
  if (members.size() != offsets.size())
    raise(types.encode_error, "a set with members that are the same value on the wire, such as 'a' "
                              "and b'a'");
  out.truncate(start);
  out.write(data{std::move(members)});
}

void write_table(PyObject* x, data_writer& out, unsigned depth) {
  auto start = out.size_bytes();
  struct entry {
    std::size_t key;
    std::size_t value;
  };
  std::vector<entry> entries;
  PyObject* k = nullptr;
  PyObject* v = nullptr;
  auto n = PyDict_GET_SIZE(x);
  for (Py_ssize_t position = 0; PyDict_Next(x, &position, &k, &v) != 0;) {
    auto key = py::reinterpret_borrow<py::object>(k);
    auto value = py::reinterpret_borrow<py::object>(v);
    entry offsets;
    offsets.key = out.size_bytes();
    write_value(key.ptr(), out, depth);
    offsets.value = out.size_bytes();
    write_value(value.ptr(), out, depth);
    if (PyDict_GET_SIZE(x) != n)
      raise_changed(x);
    entries.push_back(offsets);
  }
  table members;
  for (auto [key, value] : entries)
    members.emplace(data_view::from_valid(out.bytes().subspan(key)).to_data(),
                    data_view::from_valid(out.bytes().subspan(value)).to_data());
  if (members.size() != entries.size())
    raise(types.encode_error,
          "a dict with keys that are the same value on the wire, such as 'a' and b'a'");
  out.truncate(start);
  out.write(data{std::move(members)});
}

template <class Write>
void write_container(PyObject* x, data_writer& out, unsigned depth, Write write) {
  if (depth >= max_depth)
    raise(types.encode_error,
          "a value nested deeper than " + std::to_string(max_depth) + " containers");
  write(x, out, depth + 1);
}

// -- dispatch -----------------------------------------------------------------------------------

// An object that says itself what it is on the wire, or has a buffer, or a type error.
void write_other(PyObject* x, data_writer& out, unsigned depth) {
  auto method = py::reinterpret_steal<py::object>(PyObject_GetAttr(x, types.name_to_data));
  if (!method || PyCallable_Check(method.ptr()) == 0 || PyType_Check(x)) {
    PyErr_Clear();
    if (PyObject_CheckBuffer(x) != 0)
      return write_buffer(x, out);
    raise(types.encode_type_error, "a " + type_name(x) + " has no counterpart in the data model");
  }
  auto value = own(PyObject_CallNoArgs(method.ptr()));
  write_container(value.ptr(), out, depth, write_value);
}

bool write_address_like(PyObject* x, data_writer& out) {
  if (is_instance(x, types.ipv4_network))
    write_network(x, out, 96);
  else if (is_instance(x, types.ipv6_network))
    write_network(x, out, 0);
  else if (is_instance(x, types.ipv4_interface) || is_instance(x, types.ipv6_interface))
    raise(types.encode_type_error, "an address with a netmask: pass its .ip or its .network");
  else if (is_instance(x, types.ipv4_address) || is_instance(x, types.ipv6_address))
    out.write_address(to_address(x));
  else if (is_instance(x, types.subnet))
    write_raw_subnet(x, out);
  else
    return false;
  return true;
}

// Subclasses and the rarer types.
void write_instance(PyObject* x, data_writer& out, unsigned depth) {
  if (is_instance(x, types.count))
    out.write_count(to_unsigned(x));
  else if (PyLong_Check(x))
    write_int(x, out);
  else if (is_instance(x, types.enum_value))
    write_enum(x, out);
  else if (PyUnicode_Check(x))
    write_str(x, out);
  else if (PyFloat_Check(x))
    out.write_real(PyFloat_AsDouble(x));
  else if (PyBytes_Check(x))
    write_bytes(x, out);
  else if (PyByteArray_Check(x) || PyMemoryView_Check(x))
    write_buffer(x, out);
  else if (PyTuple_Check(x) || PyList_Check(x))
    write_container(x, out, depth, write_sequence);
  else if (PyAnySet_Check(x))
    write_container(x, out, depth, write_set);
  else if (PyDict_Check(x))
    write_container(x, out, depth, write_table);
  else if (is_datetime(x))
    out.write_timestamp(to_timestamp(x));
  else if (is_timedelta(x))
    out.write_timespan(to_timespan(x));
  else if (is_instance(x, types.port))
    write_port(x, out);
  else if (!write_address_like(x, out))
    write_other(x, out, depth);
}

// The frequent types first, each one comparison.
void write_value(PyObject* x, data_writer& out, unsigned depth) {
  auto* type = Py_TYPE(x);
  if (type == &PyUnicode_Type)
    write_str(x, out);
  else if (type == types.count)
    out.write_count(to_unsigned(x));
  else if (type == &PyLong_Type)
    write_int(x, out);
  else if (x == Py_None)
    out.write_none();
  else if (type == &PyBool_Type)
    out.write_boolean(x == Py_True);
  else if (type == &PyFloat_Type)
    out.write_real(PyFloat_AS_DOUBLE(x));
  else if (type == &PyBytes_Type)
    write_bytes(x, out);
  else if (type == &PyTuple_Type || type == &PyList_Type)
    write_container(x, out, depth, write_sequence);
  else if (type == types.port)
    write_port(x, out);
  else if (type == types.ipv4_address)
    out.write_address(to_address(x));
  else if (type == types.timestamp)
    out.write_timestamp(to_timestamp(x));
  else if (type == types.timespan)
    out.write_timespan(to_timespan(x));
  else if (type == types.enum_value)
    write_enum(x, out);
  else
    write_instance(x, out, depth);
}

thread_local data_writer idle_writer;

} // namespace

void encode(PyObject* x, data_writer& out) {
  write_value(x, out, 0);
}

scratch_writer::scratch_writer() : writer_(std::move(idle_writer)) {
  writer_.clear();
}

scratch_writer::~scratch_writer() {
  constexpr std::size_t worth_keeping_bytes = 1024 * 1024;
  if (writer_.size_bytes() <= worth_keeping_bytes)
    idle_writer = std::move(writer_);
}

} // namespace pubsub::python
