// SPDX-License-Identifier: BSD-3-Clause
#include <string>

#include <pybind11/pybind11.h>

#include <pubsub/counters.hpp>

#include "bind.hpp"

namespace pubsub::python {

namespace {

// A read-only class of whole numbers with an `as_dict` and a repr.
template <class T>
class counter_class {
public:
  counter_class(py::module_& m, const char* name, const char* doc)
      : class_(m, name, doc), name_(name) {}

  counter_class& add(const char* name, std::uint64_t T::*member, const char* doc) {
    class_.def_readonly(name, member, doc);
    members_.append(name);
    return *this;
  }

  // A sum over others.
  counter_class& add(const char* name, std::uint64_t (T::*sum)() const noexcept, const char* doc) {
    class_.def_property_readonly(
        name, [sum](const T& x) { return (x.*sum)(); }, doc);
    members_.append(name);
    return *this;
  }

  template <class Part>
  counter_class& add_part(const char* name, Part T::*member, const char* doc) {
    class_.def_readonly(name, member, doc);
    return *this;
  }

  void finish() {
    auto names = members_;
    std::string type = name_;
    class_.def(
        "as_dict", [names](const py::object& self) { return as_dict(self, names); },
        "All counters by name.");
    class_.def("__repr__", [names, type](const py::object& self) {
      return py::str("{}({})").format(type, py::str(", ").attr("join")(assignments(self, names)));
    });
  }

private:
  static py::typing::Dict<py::str, py::int_> as_dict(const py::object& self,
                                                     const py::list& names) {
    py::dict result;
    for (auto name : names)
      result[name] = self.attr(py::str(name));
    return result;
  }

  static py::list assignments(const py::object& self, const py::list& names) {
    py::list result;
    for (auto [name, value] : as_dict(self, names))
      result.append(py::str("{}={}").format(name, value));
    return result;
  }

  py::class_<T> class_;
  py::list members_;
  const char* name_;
};

void bind_subscriber_counters(py::module_& m) {
  using counters = subscriber_counters;
  counter_class<counters>(m, "SubscriberCounters",
                          "One subscriber: offered == delivered + dropped + queued.")
      .add("offered", &counters::offered, "Messages that matched its topics.")
      .add("delivered", &counters::delivered, "Handed to the program.")
      .add("queued", &counters::queued, "Waiting now.")
      .add("dropped_oldest", &counters::dropped_oldest, "Queue full, policy drop_oldest.")
      .add("dropped_newest", &counters::dropped_newest, "Queue full, policy drop_newest.")
      .add("decode_errors", &counters::decode_errors, "Received bytes that are not a valid value.")
      .add("dropped_closed", &counters::dropped_closed, "Queued or arriving when it was closed.")
      .add("conflated", &counters::conflated, "Replaced by a newer one, policy conflate.")
      .add("filtered", &counters::filtered, "Did not fulfil the condition of the subscriber.")
      .add("dropped_overflow", &counters::dropped_overflow,
           "Queue full, policy disconnect; also what came later.")
      .add("missed", &counters::missed,
           "Published, but never arrived here, so not among `offered`: numbers missing in streams "
           "of one topic.")
      .add("restarts", &counters::restarts, "Streams that started again from a lower number.")
      .add("dropped", &counters::dropped, "All of them that were offered and not delivered.")
      .finish();
}

void bind_link_counters(py::module_& m) {
  using counters = link_counters;
  counter_class<counters>(m, "LinkCounters",
                          "One link to a peer: offered == sent + dropped + queued.")
      .add("offered", &counters::offered, "Data messages that matched the peer's filter.")
      .add("sent", &counters::sent, "Data messages written to the socket.")
      .add("queued", &counters::queued, "Waiting now.")
      .add("dropped_oldest", &counters::dropped_oldest, "Outbox full, policy drop_oldest.")
      .add("dropped_newest", &counters::dropped_newest, "Outbox full, policy drop_newest.")
      .add("dropped_gone", &counters::dropped_gone, "The peer went away before they were written.")
      .add("conflated", &counters::conflated, "Replaced by a newer one, policy conflate.")
      .add("dropped_overflow", &counters::dropped_overflow,
           "Outbox full, policy disconnect; also what came later.")
      .add("dropped", &counters::dropped, "All of them that were offered and not sent.")
      .add("received", &counters::received, "Data messages read from the peer.")
      .add("bytes_sent", &counters::bytes_sent, "Bytes.")
      .add("bytes_received", &counters::bytes_received, "Bytes.")
      .add("credit_waits", &counters::credit_waits,
           "Times that messages had to wait because the peer had given no credit for more; 0 in "
           "version 1.")
      .finish();
}

void bind_endpoint_counters(py::module_& m) {
  using counters = endpoint_counters;
  counter_class<counters>(m, "EndpointCounters",
                          "One endpoint, all its publishers, links and subscribers, past and "
                          "present.")
      .add_part("subscribers", &counters::subscribers, "The sums over all its subscribers.")
      .add_part("links", &counters::links, "The sums over all its links.")
      .add("published", &counters::published, "Messages taken from publishers of this endpoint.")
      .add("unwanted", &counters::unwanted, "Of those, messages nobody had subscribed to.")
      .add("dropped", &counters::dropped,
           "Of those, messages that at least one full queue did not take without loss.")
      .add("would_block", &counters::would_block, "Attempts given up: no room by the deadline.")
      .add("refused_topic", &counters::refused_topic, "Not taken: reserved or over-long topic.")
      .add("refused_size", &counters::refused_size, "Not taken: longer than a frame may be.")
      .add("refused_closed", &counters::refused_closed, "Not taken: the endpoint was closed.")
      .add("refused_empty", &counters::refused_empty, "Not taken: an empty message.")
      .add("refused", &counters::refused, "The sum of those not taken.")
      .add("received", &counters::received, "Data messages read from peers.")
      .add("forwarded", &counters::forwarded, "Passed on between peers, counted per target.")
      .add("ttl_expired", &counters::ttl_expired, "Not passed on: hop limit used up.")
      .add("unreachable", &counters::unreachable,
           "Not passed on: no path to a node that a message was for; counted per node.")
      .add("no_subscriber", &counters::no_subscriber,
           "Received for subscribers here of which there are none.")
      .add("duplicates", &counters::duplicates, "Received again, or behind later ones.")
      .add("denied", &counters::denied, "What access rules have refused.")
      .add("limited", &counters::limited, "What their limits have refused or held back.")
      .add("malformed_frames", &counters::malformed_frames,
           "Frames from peers that were no valid message.")
      .add("withheld", &counters::withheld,
           "Not sent to a peer because they fulfil no condition behind it, per peer.")
      .add("screened_out", &counters::screened_out, "Received, and not let pass by rules.")
      .add("silent_peers", &counters::silent_peers, "Links cut because nothing was heard.")
      .finish();
}

void bind_publisher_counters(py::module_& m) {
  using counters = publisher_counters;
  counter_class<counters>(m, "PublisherCounters",
                          "One publisher: every attempt is in published, would_block or refused.")
      .add("published", &counters::published, "Taken, unwanted and dropped ones included.")
      .add("unwanted", &counters::unwanted, "Of those, messages nobody had subscribed to.")
      .add("dropped", &counters::dropped,
           "Of those, messages that at least one full queue did not take without loss.")
      .add("would_block", &counters::would_block, "Given up: no room in time, and nobody got it.")
      .add("refused_topic", &counters::refused_topic, "Not taken: reserved or over-long topic.")
      .add("refused_size", &counters::refused_size, "Not taken: longer than a frame may be.")
      .add("refused_closed", &counters::refused_closed, "Not taken: the endpoint was closed.")
      .add("refused_empty", &counters::refused_empty, "Not taken: an empty message.")
      .add("refused", &counters::refused, "The sum of those not taken.")
      .finish();
}

} // namespace

void bind_counters(py::module_& m) {
  bind_publisher_counters(m);
  bind_subscriber_counters(m);
  bind_link_counters(m);
  bind_endpoint_counters(m);
}

} // namespace pubsub::python
