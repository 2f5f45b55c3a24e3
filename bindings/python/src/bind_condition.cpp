// SPDX-License-Identifier: BSD-3-Clause
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <pubsub/condition.hpp>
#ifdef PUBSUB_HAS_REGEX
#include <pubsub/regex.hpp>
#endif

#include "bind.hpp"
#include "encode.hpp"
#include "message.hpp"
#include "raise.hpp"
#include "typed.hpp"

namespace pubsub::python {

namespace {

using column_list = std::vector<std::pair<std::string, std::string>>;

const char condition_doc[] = "A condition in its canonical spelling. Use libpubsub.Condition.";

condition make_condition(const std::string& text, bool unknown, const column_list& columns) {
  condition_options options;
  options.unknown = unknown ? if_unknown::yes : if_unknown::no;
#ifdef PUBSUB_HAS_REGEX
  options.regex = &make_re2_matcher;
#endif
  for (const auto& [name, type] : columns)
    options.columns.push_back({name, type});
  return value_or_raise(condition::make(text, options));
}

column_list columns_of(const condition& x) {
  column_list result;
  for (const auto& each : x.columns())
    result.emplace_back(each.name, each.type);
  return result;
}

std::string_view judge(const condition& x, const any_object& value, const py::str& topic) {
  scratch_writer bytes;
  encode(value.ptr(), *bytes);
  return to_string(x.judge(topic_bytes(topic), bytes->bytes()));
}

} // namespace

void bind_condition(py::module_& m) {
  py::class_<condition>(m, "Condition", condition_doc)
      .def(py::init(&make_condition), py::arg("text"), py::arg("unknown"), py::arg("columns"))
      .def_property_readonly(
          "text", [](const condition& x) { return x.text(); },
          "The condition in its canonical spelling.")
      .def_property_readonly(
          "unknown", [](const condition& x) { return x.unknown() == if_unknown::yes; },
          "Whether messages pass whose answer is unknown.")
      .def_property_readonly("columns", &columns_of, "Names and types as they were given.")
      .def("judge", &judge, py::arg("value"), py::arg("topic") = "",
           "What a message with this value and this topic answers: yes, no, absent, unknown. "
           "Columns "
           "are known where they were given.");
}

} // namespace pubsub::python
