// SPDX-License-Identifier: BSD-3-Clause
#include "object_cache.hpp"

#include <algorithm>
#include <cstring>
#include <functional>
#include <string>
#include <unordered_map>

#include "raise.hpp"

namespace pubsub::python {

namespace {

py::object call(PyTypeObject* type, const py::tuple& args) {
  return py::reinterpret_steal<py::object>(
      checked(PyObject_Call(reinterpret_cast<PyObject*>(type), args.ptr(), nullptr)));
}

std::uint32_t v4_value(const address& x) {
  auto& b = x.bytes();
  return std::uint32_t{b[12]} << 24 | std::uint32_t{b[13]} << 16 | std::uint32_t{b[14]} << 8 |
         b[15];
}

py::bytes packed(const address& x) {
  return {reinterpret_cast<const char*>(x.bytes().data()), address::size_bytes};
}

// One place per hash; a newcomer takes the place of what is there.
template <class Key, std::size_t Size>
class direct_mapped {
public:
  template <class Make>
  PyObject* get(const Key& key, std::size_t hash, Make&& make) {
    auto& place = places_[hash % Size];
    if (place.object == nullptr || !(place.key == key)) {
      auto fresh = make();
      if (!fresh)
        return nullptr;
      place.key = key; // before the old object goes, which may run code that comes here
      Py_XSETREF(place.object, fresh.release().ptr());
    }
    return new_ref(place.object);
  }

private:
  struct entry {
    Key key;
    PyObject* object = nullptr;
  };
  entry places_[Size];
};

std::size_t hash_of(std::uint64_t x) {
  constexpr std::uint64_t golden = 0x9e3779b97f4a7c15u;
  return static_cast<std::size_t>(x * golden >> 32);
}

std::size_t hash_of(const address& x) {
  std::uint64_t high, low;
  std::memcpy(&high, x.bytes().data(), sizeof high);
  std::memcpy(&low, x.bytes().data() + sizeof high, sizeof low);
  return hash_of(high) ^ hash_of(low ^ (low >> 32)); // the last bytes are high bits of it
}

struct name_hash {
  using is_transparent = void;
  std::size_t operator()(std::string_view x) const noexcept {
    return std::hash<std::string_view>{}(x);
  }
};

py::object build_address(const address& x) {
  if (x.is_v4())
    return call(types.ipv4_address, py::make_tuple(v4_value(x)));
  return call(types.ipv6_address, py::make_tuple(packed(x)));
}

py::object build_port(port x) {
  auto self = py::reinterpret_steal<py::object>(checked(types.port->tp_alloc(types.port, 0)));
  auto code = static_cast<unsigned>(x.protocol());
  slot(self.ptr(), types.port_number_offset) = checked(PyLong_FromLong(x.number()));
  slot(self.ptr(), types.port_protocol_offset) = new_ref(types.protocols[code]);
  slot(self.ptr(), types.port_code_offset) = checked(PyLong_FromLong(static_cast<long>(code)));
  without_gc(self.ptr());
  return self;
}

py::object build_subnet(const subnet& x) {
  auto masked = x.network();
  masked.mask(std::min<unsigned>(x.raw_length(), 128));
  auto v4 = x.network().is_v4();
  auto regular = x.raw_length() <= 128 && masked == x.network() && (!v4 || x.raw_length() >= 96);
  auto network = py::reinterpret_steal<py::object>(make_address(x.network()));
  if (!regular)
    return call(types.subnet, py::make_tuple(network, x.raw_length()));
  auto length = x.raw_length() - (v4 ? 96 : 0);
  auto args = py::make_tuple(py::make_tuple(network, length));
  return call(v4 ? types.ipv4_network : types.ipv6_network, args);
}

} // namespace

PyObject* make_count(std::uint64_t x) {
  static direct_mapped<std::uint64_t, 1024> small;
  auto build = [x] {
    auto args = py::make_tuple(x);
    return py::reinterpret_steal<py::object>(
        checked(PyLong_Type.tp_new(types.count, args.ptr(), nullptr)));
  };
  return x < 1024 ? small.get(x, x, build) : build().release().ptr();
}

PyObject* make_short_text(std::string_view text) {
  struct short_text {
    std::uint64_t bytes = 0;
    std::size_t size = 0;
    bool operator==(const short_text&) const = default;
  };
  static direct_mapped<short_text, 4096> cache;
  short_text key{0, text.size()};
  std::memcpy(&key.bytes, text.data(), text.size());
  return cache.get(key, hash_of(key.bytes) + key.size, [&] {
    return py::reinterpret_steal<py::object>(
        PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), nullptr));
  });
}

PyObject* make_port(port x) {
  static direct_mapped<std::uint32_t, 4096> cache;
  auto code = static_cast<std::uint32_t>(x.protocol());
  return cache.get(x.number() * 4u + code, x.number() + code, [&] { return build_port(x); });
}

PyObject* make_empty_set() {
  static auto* instance = checked(PyFrozenSet_New(nullptr));
  return new_ref(instance);
}

PyObject* make_enum(std::string_view name) {
  static std::unordered_map<std::string, PyObject*, name_hash, std::equal_to<>> known;
  constexpr std::size_t limit = 4096;
  if (auto i = known.find(name); i != known.end())
    return new_ref(i->second);
  auto size = static_cast<Py_ssize_t>(name.size());
  auto text = py::reinterpret_steal<py::object>(
      checked(PyUnicode_DecodeUTF8(name.data(), size, "surrogateescape")));
  auto args = py::make_tuple(text);
  auto* result = checked(PyUnicode_Type.tp_new(types.enum_value, args.ptr(), nullptr));
  if (known.size() < limit)
    known.emplace(name, new_ref(result));
  return result;
}

PyObject* make_address(const address& x) {
  static direct_mapped<address, 8192> cache;
  return cache.get(x, hash_of(x), [&] { return build_address(x); });
}

PyObject* make_subnet(const subnet& x) {
  static direct_mapped<subnet, 1024> cache;
  return cache.get(x, hash_of(x.network()) + x.raw_length(), [&] { return build_subnet(x); });
}

} // namespace pubsub::python
