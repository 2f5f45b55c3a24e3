// Message objects: a topic and its data, decoded when first asked for.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <pybind11/pybind11.h>

#include <pubsub/data_message.hpp>

#include "python_types.hpp"

namespace pubsub::python {

/// A new reference to a Message that holds `msg`.
PyObject* make_message(data_message msg);
/// What a Message holds; raises TypeError for other objects.
const data_message& message_in(py::handle x);
/// A topic as text; bytes that are not UTF-8 become surrogate escapes.
PyObject* make_topic(std::string_view topic);
/// The bytes of a topic given as str (surrogate escapes allowed); raises TypeError for others.
std::string topic_bytes(const py::str& topic);

} // namespace pubsub::python
