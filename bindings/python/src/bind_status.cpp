// SPDX-License-Identifier: BSD-3-Clause
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <pubsub/status.hpp>
#include <pubsub/status_subscriber.hpp>

#include "bind.hpp"
#include "endpoint_handle.hpp"
#include "event_handle.hpp"

namespace pubsub::python {

namespace {

std::optional<std::string> id_text(const endpoint_id& id) {
  return id.is_nil() ? std::nullopt : std::optional(to_string(id));
}

std::optional<std::pair<std::string, unsigned>> network_pair(const std::optional<network_info>& x) {
  if (!x)
    return std::nullopt;
  return std::pair(x->address, unsigned{x->port});
}

std::string code_name(const status& x) {
  return std::string(x.is_error() ? to_string(x.failure()) : to_string(x.code()));
}

class status_handle final : public event_handle<status_subscriber, status> {
public:
  status_handle(const endpoint_handle& owner, bool errors_only)
      : event_handle(owner.share(), owner.open().make_status_subscriber(
                                        errors_only ? status_events::errors : status_events::all)) {
  }

  std::size_t available() const {
    fork_.check();
    return events_->available();
  }
  std::uint64_t dropped() const {
    fork_.check();
    return events_->dropped();
  }
};

const char code_doc[] =
    "What happened, in Broker's words: peer_added, peer_removed, peer_lost, endpoint_discovered, "
    "endpoint_unreachable, or for an error its name, such as peer_unavailable.";

} // namespace

void bind_status(py::module_& m) {
  py::class_<status>(m, "Status", "One event about a peer: a change of status, or an error.")
      .def_property_readonly("code", code_name, code_doc)
      .def_property_readonly("is_error", &status::is_error, "Whether this is an error.")
      .def_property_readonly(
          "peer", [](const status& x) { return id_text(x.peer()); },
          "Id of the peer concerned; None where it is not known (yet).")
      .def_property_readonly(
          "network", [](const status& x) { return network_pair(x.network()); },
          "Host and port of the peer; None where not known.")
      .def_property_readonly("name", &status::name,
                             "What the peer calls itself; empty where not known.")
      .def_property_readonly("in_good_order", &status::in_good_order,
                             "Whether a peer that is lost has said goodbye before.")
      .def_property_readonly("message", &status::message, "A sentence for people.")
      .def("__str__", [](const status& x) { return to_string(x); })
      .def("__repr__", [](const status& x) { return "<Status " + to_string(x) + ">"; });

  py::class_<status_handle>(
      m, "StatusSubscriber", py::release_gil_before_calling_cpp_dtor(),
      "Receives status and error events of an endpoint's peerings, or the errors only, in order, "
      "from its creation on; keeps the latest 65,536.")
      .def(py::init<const endpoint_handle&, bool>(), py::arg("endpoint"),
           py::arg("errors_only") = false)
      .def("get", &status_handle::get, py::arg("timeout") = py::none(),
           "Waits for the next event, at most `timeout` seconds, for ever by default. Returns None "
           "on "
           "time-out. Raises Closed once the endpoint is closed and all events are read.")
      .def("poll", &status_handle::poll, "All events there are, at once; possibly none.")
      .def("next_nowait", &status_handle::next_nowait,
           "The next event, or None where there is none yet. Raises StopIteration at the end.")
      .def("__next__", &status_handle::next)
      .def("available", &status_handle::available,
           "Number of events that can be read without waiting.")
      .def("fileno", &status_handle::fd,
           "A descriptor that is readable while an event is available or the endpoint is closed.")
      .def_property_readonly("closed", &status_handle::closed,
                             "Whether no event can come any more.")
      .def_property_readonly("dropped", &status_handle::dropped,
                             "Events discarded because too many were unread.");
}

} // namespace pubsub::python
