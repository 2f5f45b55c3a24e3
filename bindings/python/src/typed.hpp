// Python objects whose type the stubs should name although C++ handles them as plain objects.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <pybind11/pybind11.h>

#include "python_types.hpp"

namespace pubsub::python {

template <class Tag>
class typed_object : public py::object {
public:
  using py::object::object;
  static bool check_(py::handle) { return true; }
  /// Takes over a new reference.
  static typed_object own(PyObject* x) { return typed_object(py::handle(x), stolen_t{}); }
};

using any_object = typed_object<struct any_tag>;
using message_or_none = typed_object<struct message_or_none_tag>;
using message_list = typed_object<struct message_list_tag>;
using message_result = typed_object<struct message_tag>;
using message_version_object = typed_object<struct message_version_tag>;
using version_or_none = typed_object<struct version_or_none_tag>;
using completion_object = typed_object<struct completion_tag>;
using error_or_none = typed_object<struct error_or_none_tag>;
using result_generator = typed_object<struct result_generator_tag>;
using publish_result_object = typed_object<struct publish_result_tag>;
using timestamp_object = typed_object<struct timestamp_tag>;

} // namespace pubsub::python

namespace pybind11::detail {

template <>
struct handle_type_name<pubsub::python::any_object> {
  static constexpr auto name = const_name("typing.Any");
};
template <>
struct handle_type_name<pubsub::python::timestamp_object> {
  static constexpr auto name = const_name("libpubsub.times.Timestamp");
};
template <>
struct handle_type_name<pubsub::python::message_or_none> {
  static constexpr auto name = const_name("libpubsub._core.Message | None");
};
template <>
struct handle_type_name<pubsub::python::message_list> {
  static constexpr auto name = const_name("list[libpubsub._core.Message]");
};
template <>
struct handle_type_name<pubsub::python::message_result> {
  static constexpr auto name = const_name("libpubsub._core.Message");
};
template <>
struct handle_type_name<pubsub::python::message_version_object> {
  static constexpr auto name = const_name("libpubsub.versions.MessageVersion");
};
template <>
struct handle_type_name<pubsub::python::version_or_none> {
  static constexpr auto name = const_name("libpubsub.versions.MessageVersion | None");
};
template <>
struct handle_type_name<pubsub::python::completion_object> {
  static constexpr auto name = const_name("libpubsub.versions.Completion");
};
template <>
struct handle_type_name<pubsub::python::error_or_none> {
  static constexpr auto name = const_name("libpubsub.errors.PubsubError | None");
};
template <>
struct handle_type_name<pubsub::python::result_generator> {
  static constexpr auto name =
      const_name("collections.abc.Generator[typing.Any, None, typing.Any]");
};
template <>
struct handle_type_name<pubsub::python::publish_result_object> {
  static constexpr auto name = const_name("libpubsub.values.PublishResult");
};

} // namespace pybind11::detail
