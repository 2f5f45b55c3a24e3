// Python objects that are slow to build and come again and again: made once, handed out many times.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string_view>

#include <pybind11/pybind11.h>

#include <pubsub/value/address.hpp>
#include <pubsub/value/port.hpp>
#include <pubsub/value/subnet.hpp>

#include "python_types.hpp"

namespace pubsub::python {

// All give a new reference to an immutable object, which may be shared. The caches are bounded,
// live as long as the process, and are read and written with the GIL held.

/// A Count.
PyObject* make_count(std::uint64_t x);
/// A Port.
PyObject* make_port(port x);
/// The empty frozenset.
PyObject* make_empty_set();
/// A str for at most `short_text_bytes` bytes; null with an exception set if they are no UTF-8.
PyObject* make_short_text(std::string_view text);
inline constexpr std::size_t short_text_bytes = 8;
/// An EnumValue; bytes that are not UTF-8 become surrogate escapes, as in file names.
PyObject* make_enum(std::string_view name);
/// An IPv4Address or IPv6Address.
PyObject* make_address(const address& x);
/// An IPv4Network or IPv6Network; a Subnet where those cannot hold it.
PyObject* make_subnet(const subnet& x);

} // namespace pubsub::python
