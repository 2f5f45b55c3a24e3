// SPDX-License-Identifier: BSD-3-Clause
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <pybind11/typing.h>

#include "bind.hpp"
#include "decode.hpp"
#include "endpoint_handle.hpp"
#include "options.hpp"
#include "typed.hpp"
#include "versioned_handles.hpp"

namespace pubsub::python {

namespace {

completion_reports reports_named(const std::string& name) {
  if (name == "none")
    return completion_reports::none;
  if (name == "failures")
    return completion_reports::failures;
  if (name == "all")
    return completion_reports::all;
  raise(types.invalid_argument, "reports is none, failures or all, not " + name);
}

version_or_none version_object(const message_version& x) {
  return version_or_none::own(to_python(x).release().ptr());
}

completion_object to_object(const versioned_completion& x) {
  py::object why = py::none();
  if (x.error)
    why = py::handle(types.error_from_code)(std::string{to_string(x.error.code())},
                                            x.error.message());
  return completion_object::own(
      py::handle(types.completion)(x.client_number, to_python(x.version), why).release().ptr());
}

std::unique_ptr<replica_handle> make_replica(const endpoint_handle& owner, const std::string& name,
                                             const std::string& id, std::size_t group_size,
                                             std::size_t history, std::size_t history_bytes,
                                             double liveness_timeout, py::object snapshot,
                                             py::object restore) {
  owner.open();
  replica_options options;
  options.id = id;
  options.group_size = group_size;
  options.history_messages = history;
  options.history_bytes = history_bytes;
  options.liveness_timeout = time_of("liveness_timeout", liveness_timeout);
  return std::make_unique<replica_handle>(
      owner.share(), name, options,
      std::make_shared<state_functions>(std::move(snapshot), std::move(restore)));
}

std::unique_ptr<versioned_group_handle> make_group(const endpoint_handle& owner,
                                                   const std::string& name,
                                                   const std::string& scheme, std::size_t replicas,
                                                   std::size_t window, std::size_t window_bytes,
                                                   double timeout, const std::string& reports) {
  owner.open();
  versioned_group_options options;
  options.scheme = value_or_raise(parse_versioning(scheme));
  options.replicas = replicas;
  options.window_messages = window;
  options.window_bytes = window_bytes;
  options.timeout = time_of("timeout", timeout);
  options.reports = reports_named(reports);
  return std::make_unique<versioned_group_handle>(owner.share(), name, options);
}

void bind_message_of_replica(py::module_& m) {
  py::class_<versioned_message>(m, "VersionedMessage", "A message as a replica hands it out.")
      .def_property_readonly(
          "version", [](const versioned_message& x) { return version_object(x.version); },
          "Its MessageVersion; None where the client uses scheme none.")
      .def_property_readonly(
          "value", [](const versioned_message& x) { return any_object::own(to_python(x.value)); },
          "What was sent; None where the number is void.")
      .def_property_readonly(
          "client",
          [](const versioned_message& x) -> std::optional<std::string> {
            if (x.is_void())
              return {};
            return to_string(x.client);
          },
          "Id of the VersionedGroup that has sent it; None where the number is void.")
      .def_property_readonly(
          "client_number", [](const versioned_message& x) { return x.client_number; },
          "Which of the client's messages it is: 1, 2, 3 ...")
      .def_property_readonly("is_void", &versioned_message::is_void,
                             "The client was lost between getting this version and sending its "
                             "message: all replicas agree that there is none.")
      .def("__repr__", [](const versioned_message& x) {
        const auto what = x.is_void() ? std::string{"void"}
                                      : "message " + std::to_string(x.client_number) + " of " +
                                            to_string(x.client);
        return "<VersionedMessage " + to_string(x.version) + ": " + what + ">";
      });
}

void bind_replica(py::module_& m) {
  py::class_<replica_handle>(
      m, "Replica",
      "One of the servers of a group: hands out the same messages under the same versions as the "
      "others. Threads may share one.")
      .def(py::init(&make_replica), py::arg("endpoint"), py::arg("name"), py::kw_only(),
           py::arg("id") = "", py::arg("group_size") = replica_options{}.group_size,
           py::arg("history") = replica_options{}.history_messages,
           py::arg("history_bytes") = replica_options{}.history_bytes,
           py::arg("liveness_timeout") = 2.0, py::arg("snapshot") = py::none(),
           py::arg("restore") = py::none(),
           "`id` is its name in the group, which no other replica has (random if empty); "
           "`group_size` the number of servers the group was planned with. `history` messages, and "
           "`history_bytes`, are kept for replicas that come late. A replica that is silent for "
           "`liveness_timeout` seconds is lost. `snapshot()` returns the state after all that was "
           "handed out, `restore(state, version)` takes one over; both are called by the thread "
           "that is in `get`. Raises InvalidArgument, Closed.")
      .def("get", &replica_handle::get, py::arg("timeout") = py::none(),
           "The next message; None after `timeout` seconds without one. Raises Closed once closed; "
           "where it had to leave its group InvalidArgument (another replica has its id, or others "
           "have another group_size), NotSupported (what it has missed is in no history any more), "
           "PeerError (another group of this name has begun).")
      .def("get_batch", &replica_handle::get_batch, py::arg("max"), py::arg("timeout") = py::none(),
           "The next messages, those that are here, at most `max`; an empty list after `timeout` "
           "seconds without one. Raises as `get`.")
      .def("__iter__", [](py::object self) { return self; })
      .def("__next__", &replica_handle::next)
      .def(
          "wait_ready", &replica_handle::wait_ready, py::arg("timeout") = py::none(),
          "Waits until this replica is a member, at most `timeout` seconds; returns whether it is. "
          "Raises as `get`.")
      .def_property_readonly(
          "applied",
          [](const replica_handle& x) {
            return version_object(x.ask([](const replica& it) { return it.applied(); }));
          },
          "MessageVersion of the last message that was handed out, or restored; None before.")
      .def_property_readonly(
          "held",
          [](const replica_handle& x) {
            return version_object(x.ask([](const replica& it) { return it.held(); }));
          },
          "MessageVersion of the last message that is here without gap, whether other replicas "
          "hold it or not; None before.")
      .def_property_readonly(
          "state",
          [](const replica_handle& x) {
            return std::string{to_string(x.ask([](const replica& it) { return it.state(); }))};
          },
          "joining, catching_up, member or closed.")
      .def_property_readonly(
          "is_sequencer",
          [](const replica_handle& x) {
            return x.ask([](const replica& it) { return it.is_sequencer(); });
          },
          "Whether this replica gives messages their versions now.")
      .def_property_readonly(
          "replicas",
          [](const replica_handle& x) {
            return x.ask([](const replica& it) { return it.replicas(); });
          },
          "Members that are alive, as far as this replica knows.")
      .def_property_readonly(
          "id",
          [](const replica_handle& x) { return x.ask([](const replica& it) { return it.id(); }); },
          "Its name in the group.")
      .def(
          "counters",
          [](const replica_handle& x) {
            const auto now = x.ask([](const replica& it) { return it.counters(); });
            py::typing::Dict<py::str, py::int_> result;
            result["handed_out"] = now.handed_out;
            result["voids"] = now.voids;
            result["numbered"] = now.numbered;
            result["elections"] = now.elections;
            result["fetched"] = now.fetched;
            result["refused"] = now.refused;
            return result;
          },
          "By name: handed_out, messages, and of those voids; numbered, messages that got their "
          "version here; elections, epochs in which this replica became the sequencer; fetched, "
          "messages that the sequencer has sent "
          "again; refused, messages of others that were malformed or of a past epoch.")
      .def("close", &replica_handle::close,
           "Leaves the group at once, as if the process had ended. Ends all waits. Idempotent.")
      .def_property_readonly("closed",
                             [](const replica_handle& x) {
                               return x.ask([](const replica& it) { return it.closed(); });
                             })
      .def_property_readonly("forked", &replica_handle::forked,
                             "Whether it belongs to a parent process.");
}

void bind_sending(py::class_<versioned_group_handle>& group) {
  group
      .def(
          "send",
          [](versioned_group_handle& x, const any_object& value) {
            return version_object(x.send(value.ptr()));
          },
          py::arg("value"),
          "Sends a message and waits until all members hold it; returns its "
          "MessageVersion, None with scheme none. Raises EncodeError, LimitExceeded (it is too "
          "long), PeerUnavailable (it was not sent), Timeout (it may have been taken), Closed.")
      .def(
          "post",
          [](versioned_group_handle& x, const any_object& value) { return x.post(value.ptr()); },
          py::arg("value"),
          "Sends a message and returns its number, 1, 2, 3 ..., as soon as there is room in the "
          "window. Raises EncodeError, LimitExceeded, Closed: then it is not sent.")
      .def("send_pending", &versioned_group_handle::send_pending,
           "Messages that were posted go now, even where their batch is not full. Does not wait.")
      .def("drain", &versioned_group_handle::drain, py::arg("timeout") = py::none(),
           "Waits until all messages are acknowledged or given up, at most `timeout` seconds; "
           "returns how many are not.")
      .def(
          "take_completions",
          [](versioned_group_handle& x, std::optional<double> timeout) {
            std::vector<completion_object> list;
            for (const auto& each : x.take_completions(timeout))
              list.push_back(to_object(each));
            return list;
          },
          py::arg("timeout") = 0.0,
          "What has become of messages that were posted, in no order, as far as `reports` asks for "
          "it; waits for the first completion at most `timeout` seconds. If they are not taken, "
          "the oldest are dropped beyond a million.")
      .def("wait_for_replicas", &versioned_group_handle::wait_for_replicas, py::arg("n") = 1,
           py::arg("timeout") = py::none(),
           "Waits until the group has `n` members that are alive, at most `timeout` seconds; "
           "returns whether it has.");
}

void bind_group(py::module_& m) {
  py::class_<versioned_group_handle> group(
      m, "VersionedGroup",
      "A client of a group of replicas: each of its messages is handed out by all of them, once. "
      "Threads may share one.");
  group.def(py::init(&make_group), py::arg("endpoint"), py::arg("name"),
            py::arg("scheme") = "one_hop_ack_client", py::kw_only(), py::arg("replicas") = 1,
            py::arg("window") = versioned_group_options{}.window_messages,
            py::arg("window_bytes") = versioned_group_options{}.window_bytes,
            py::arg("timeout") = 10.0, py::arg("reports") = "failures",
            "`scheme` is none, version_request, message_returns_version, one_hop, "
            "one_hop_ack_client or tagged. `replicas` is how many members the group must have "
            "before anything is sent; `window` messages, and `window_bytes`, are in flight at "
            "most. A message that is "
            "not acknowledged after `timeout` seconds is given up. `reports` says which messages "
            "that are posted `take_completions` reports: none, failures or all. Raises "
            "InvalidArgument, Closed.");
  bind_sending(group);
  group
      .def_property_readonly(
          "replicas",
          [](const versioned_group_handle& x) {
            return x.ask([](const versioned_group& it) { return it.replicas(); });
          },
          "Members that are alive, as far as is known here.")
      .def_property_readonly(
          "in_flight",
          [](const versioned_group_handle& x) {
            return x.ask([](const versioned_group& it) { return it.in_flight(); });
          },
          "Messages sent and not acknowledged.")
      .def_property_readonly(
          "id",
          [](const versioned_group_handle& x) {
            return to_string(x.ask([](const versioned_group& it) { return it.id(); }));
          },
          "By which replicas know this client.")
      .def(
          "counters",
          [](const versioned_group_handle& x) {
            const auto now = x.ask([](const versioned_group& it) { return it.counters(); });
            py::typing::Dict<py::str, py::int_> result;
            result["sent"] = now.sent;
            result["acknowledged"] = now.acknowledged;
            result["failed"] = now.failed;
            result["batches"] = now.batches;
            result["resent"] = now.resent;
            return result;
          },
          "What became of messages, by name: sent, acknowledged, failed; and batches, the "
          "messages on the wire that carried them, and of those resent.")
      .def("close", &versioned_group_handle::close,
           "Ends all waits. Messages in flight are abandoned: call `drain` before. Idempotent.")
      .def_property_readonly("closed",
                             [](const versioned_group_handle& x) {
                               return x.ask([](const versioned_group& it) { return it.closed(); });
                             })
      .def_property_readonly("forked", &versioned_group_handle::forked,
                             "Whether it belongs to a parent process.");
}

} // namespace

void bind_versioned(py::module_& m) {
  bind_message_of_replica(m);
  bind_replica(m);
  bind_group(m);
}

} // namespace pubsub::python
