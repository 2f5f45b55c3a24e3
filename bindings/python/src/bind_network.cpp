// SPDX-License-Identifier: BSD-3-Clause
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <pubsub/network_subscriber.hpp>

#include "bind.hpp"
#include "endpoint_handle.hpp"
#include "event_handle.hpp"
#include "message.hpp"

namespace pubsub::python {

namespace {

class network_handle final : public event_handle<network_subscriber, network_event> {
public:
  explicit network_handle(const endpoint_handle& owner)
      : event_handle(owner.share(), owner.open().make_network_subscriber()) {}

  void close() {
    fork_.check();
    gil_free nogil;
    events_->close();
  }
};

std::string change_name(const network_event& x) {
  return std::string{to_string(x.change)};
}

std::string text_of(const network_event& x) {
  auto result = change_name(x) + ' ' + to_string(x.node);
  if (!x.name.empty())
    result += " (" + x.name + ')';
  if (x.change == network_change::topic_added || x.change == network_change::topic_removed)
    result += " '" + x.topic + '\'';
  return result;
}

void bind_event(py::module_& m) {
  py::class_<network_event>(m, "NetworkEvent",
                            "A node has come or gone, or what it has subscribed to has changed.")
      .def_property_readonly(
          "change", change_name,
          "What has happened: node_added (messages can reach the node), node_lost (they cannot any "
          "more, and its topics are gone), topic_added (what is published here on such topics from "
          "now on reaches it), topic_removed.")
      .def_property_readonly(
          "node", [](const network_event& x) { return to_string(x.node); }, "Its endpoint id.")
      .def_readonly("name", &network_event::name,
                    "What the node calls itself; empty where not known.")
      .def_readonly("client", &network_event::client,
                    "Whether it is a client of this endpoint: no other nodes know of it.")
      .def_readonly("relays", &network_event::relays,
                    "Whether it passes messages on, as it has said when it was added.")
      .def_property_readonly(
          "topic",
          [](const network_event& x) {
            return py::reinterpret_steal<py::str>(make_topic(x.topic));
          },
          "Of topic_added and topic_removed: the prefix, perhaps empty.")
      .def("__str__", text_of)
      .def("__repr__", [](const network_event& x) { return "<NetworkEvent " + text_of(x) + ">"; });
}

} // namespace

void bind_network(py::module_& m) {
  bind_event(m);
  py::class_<network_handle>(
      m, "NetworkSubscriber", py::release_gil_before_calling_cpp_dtor(),
      "Tells which nodes of the network there are, at any distance, and which topics they want: "
      "those that are known now, then what changes.")
      .def(py::init<const endpoint_handle&>(), py::arg("endpoint"))
      .def(
          "get", &network_handle::get, py::arg("timeout") = py::none(),
          "Waits for the next event, at most `timeout` seconds, for ever by default. Returns None "
          "on time-out. Raises Closed once this or the endpoint is closed and all events are read.")
      .def("poll", &network_handle::poll, "All events there are, at once; possibly none.")
      .def("next_nowait", &network_handle::next_nowait,
           "The next event, or None where there is none yet. Raises StopIteration at the end.")
      .def("__next__", &network_handle::next)
      .def("fileno", &network_handle::fd,
           "A descriptor that is readable while an event may be there or this is closed.")
      .def_property_readonly("closed", &network_handle::closed,
                             "Whether no event can come any more.")
      .def("close", &network_handle::close,
           "Ends it; what has not been read is forgotten. Idempotent.");
}

} // namespace pubsub::python
