// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <string>
#include <tuple>

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "bind.hpp"
#include "endpoint_handle.hpp"
#include "message.hpp"
#include "options.hpp"
#include "raise.hpp"
#include "typed.hpp"

#ifdef PUBSUB_HAS_CLUSTER
#include <pubsub/cluster/gateways.hpp>
#endif
#ifdef PUBSUB_HAS_REGEX
#include <pubsub/regex.hpp>
#endif

namespace pubsub::python {

namespace {

using seconds = std::optional<double>;

std::unique_ptr<endpoint_handle>
make_endpoint(const std::optional<std::string>& id, std::optional<bool> forwards, bool own,
              unsigned io_threads, const queue_options& link_queue,
              const std::vector<py::str>& forward_topics, double connect_timeout,
              double handshake_timeout, double close_timeout, double liveness_timeout,
              bool serve_status, tls_options tls, const std::string& name, bool broker_transit,
              const shared_memory_options& memory) {
  endpoint_options options;
  options.memory = memory;
  if (tls.authenticated())
    value_or_raise(check(tls));
  options.tls = std::move(tls);
  options.name = name;
  if (id)
    options.id = value_or_raise(endpoint_id::parse(*id));
  if (forwards)
    options.forwarding = *forwards ? forwarding::on : forwarding::off;
  options.broker_transit = broker_transit ? broker_transit::on : broker_transit::off;
  options.own_messages = own ? own_messages::deliver : own_messages::ignore;
  options.io_threads = io_threads;
  options.link_queue = link_queue;
  options.forward_topics = make_filter(forward_topics);
  options.connect_timeout = to_milliseconds(connect_timeout);
  options.handshake_timeout = to_milliseconds(handshake_timeout);
  options.close_timeout = to_milliseconds(close_timeout);
  options.liveness_timeout = to_milliseconds(liveness_timeout);
  options.serve_status = serve_status ? status_service::on : status_service::off;
#ifdef PUBSUB_HAS_CLUSTER
  options.gateways = cluster::gateways();
#endif
#ifdef PUBSUB_HAS_REGEX
  options.regex = &make_re2_matcher;
#endif
  value_or_raise(check(options));
  return std::make_unique<endpoint_handle>(std::move(options));
}

// A rule as Python has it: the fields of libpubsub.AccessRule in order.
using rule_fields =
    std::tuple<std::string, std::vector<std::string>, std::vector<std::string>,
               std::vector<std::string>, bool, bool, std::optional<std::vector<std::string>>,
               std::optional<std::vector<std::string>>, std::array<std::uint64_t, 6>>;

access_rule make_rule(const rule_fields& x) {
  const auto& [name, certificates, users, tokens, anonymous, relay, publish, subscribe, limits] = x;
  access_rule result{name, certificates, users, tokens, anonymous, relay};
  if (publish)
    result.publish = filter{*publish};
  if (subscribe)
    result.subscribe = filter{*subscribe};
  result.limits = {limits[0], limits[1], limits[2], limits[3], limits[4], limits[5]};
  return result;
}

rule_fields fields_of(const access_rule& x) {
  const auto prefixes = [](const std::optional<filter>& some) {
    return some ? std::optional(std::vector<std::string>(some->begin(), some->end()))
                : std::nullopt;
  };
  const auto& l = x.limits;
  return {x.name,
          x.certificates,
          x.users,
          x.tokens,
          x.anonymous,
          x.relay,
          prefixes(x.publish),
          prefixes(x.subscribe),
          {l.messages_per_second, l.bytes_per_second, l.subscriptions, l.topics, l.queued_bytes,
           l.connections}};
}

std::vector<rule_fields> read_rules(const std::string& path) {
  const auto rules = value_or_raise(read_access_rules(path));
  std::vector<rule_fields> result;
  std::ranges::transform(rules, std::back_inserter(result), fields_of);
  return result;
}

peer_options make_peer_options(seconds retry, seconds timeout, double max_retry) {
  peer_options options;
  options.retry = retry ? std::optional(to_milliseconds(retry)) : std::nullopt;
  options.timeout = to_milliseconds(timeout);
  options.max_retry = to_milliseconds(max_retry);
  return options;
}

// Calls that cannot be cut into slices run beside this thread, so that Ctrl-C gets through.
template <class Call>
void call_or_raise(const endpoint_handle& x, Call call) {
  auto result = std::make_shared<expected<void>>();
  run_interruptibly([shared = x.share(), result, call] { *result = call(*shared); });
  value_or_raise(*result);
}

void set_access(const endpoint_handle& x, const std::optional<std::vector<rule_fields>>& rules) {
  x.open();
  std::optional<access_rules> all;
  if (rules)
    std::ranges::transform(*rules, std::back_inserter(all.emplace()), make_rule);
  call_or_raise(x, [all](endpoint& e) { return e.set_access(all); });
}

std::uint16_t listen(const endpoint_handle& x, const std::string& uri) {
  x.open();
  auto port = std::make_shared<std::uint16_t>(0);
  call_or_raise(x, [port, uri](endpoint& e) -> expected<void> {
    auto result = e.listen(uri); // may have to look a name up
    if (!result)
      return result.error();
    *port = *result;
    return {};
  });
  return *port;
}

void peer(const endpoint_handle& x, const std::string& uri, seconds retry, seconds timeout,
          double max_retry) {
  x.open();
  auto options = make_peer_options(retry, timeout, max_retry);
  call_or_raise(x, [uri, options](endpoint& e) { return e.peer(uri, options); });
}

void peer_async(const endpoint_handle& x, const std::string& uri, seconds retry, double max_retry) {
  x.open();
  auto options = make_peer_options(retry, std::nullopt, max_retry);
  call_or_raise(x, [uri, options](endpoint& e) { return e.peer_async(uri, options); });
}

void unpeer(const endpoint_handle& x, const std::string& peer, seconds timeout) {
  x.open();
  auto limit = to_milliseconds(timeout);
  auto id = endpoint_id::parse(peer);
  call_or_raise(x, [=](endpoint& e) { return id ? e.unpeer(*id, limit) : e.unpeer(peer, limit); });
}

bool wait_for_peer(const endpoint_handle& x, const std::string& id, seconds timeout) {
  auto parsed = value_or_raise(endpoint_id::parse(id));
  auto shared = x.share();
  return wait_for(deadline(timeout),
                  [&](auto left) { return shared->wait_for_peer(parsed, left); });
}

std::size_t flush(const endpoint_handle& x, seconds timeout) {
  std::size_t left_over = 0;
  auto shared = x.share();
  wait_for(deadline(timeout), [&](auto left) {
    left_over = shared->flush(left);
    return left_over == 0;
  });
  return left_over;
}

/// One call: what is to be drained is what was there at its beginning.
std::size_t drain(const endpoint_handle& x, seconds timeout) {
  const auto until = deadline(timeout);
  auto left = std::make_shared<std::size_t>(0);
  run_interruptibly([shared = x.share(), left, until] {
    *left = shared->drain(until.slice(std::chrono::hours{24 * 365}));
  });
  return *left;
}

bool retire(const endpoint_handle& x, seconds timeout) {
  const auto until = deadline(timeout);
  auto done = std::make_shared<bool>(false);
  run_interruptibly([shared = x.share(), done, until] {
    *done = shared->retire(until.slice(std::chrono::hours{24 * 365}));
  });
  return *done;
}

/// What another node answers, without the GIL and until `timeout`.
template <class Ask>
auto ask_node(const endpoint_handle& x, seconds timeout, Ask ask) {
  x.open();
  const auto until = deadline(timeout);
  using answer = decltype(ask(std::declval<const endpoint&>(), std::chrono::nanoseconds{}));
  auto result = std::make_shared<answer>(errc::none);
  run_interruptibly([shared = x.share(), result, ask, until] {
    *result = ask(*shared, until.slice(std::chrono::hours{24 * 365}));
  });
  return value_or_raise(*result);
}

std::string status_text_of(const endpoint_handle& x, const std::string& id, seconds timeout,
                           std::size_t max_bytes) {
  return ask_node(x, timeout,
                  [node = value_or_raise(endpoint_id::parse(id)), max_bytes](
                      const auto& ep, auto time) { return ep.status_of(node, time, max_bytes); });
}

std::string network_text_of(const endpoint_handle& x, const std::string& id, seconds timeout,
                            std::size_t max_bytes) {
  return ask_node(x, timeout,
                  [node = value_or_raise(endpoint_id::parse(id)), max_bytes](
                      const auto& ep, auto time) { return ep.network_of(node, time, max_bytes); });
}

std::vector<trace_hop> trace(const endpoint_handle& x, const std::string& topic, seconds timeout) {
  return ask_node(x, timeout, [topic](const auto& ep, auto time) { return ep.trace(topic, time); });
}

std::optional<std::string> id_or_none(const endpoint_id& id) {
  return id.is_nil() ? std::nullopt : std::optional(to_string(id));
}

void bind_trace(py::module_& m) {
  py::class_<trace_hop>(m, "TraceHop", "One node that a message on a traced topic comes to.")
      .def_property_readonly(
          "node", [](const trace_hop& x) { return to_string(x.node); }, "Its id.")
      .def_readonly("name", &trace_hop::name, "What it calls itself; empty: not known.")
      .def_property_readonly(
          "previous", [](const trace_hop& x) { return id_or_none(x.from); },
          "Id of the hop before; None where the trace begins.")
      .def_property_readonly(
          "outcome", [](const trace_hop& x) { return std::string{to_string(x.outcome)}; },
          "`reached`; `broker_peer`: it speaks version 1 and cannot be asked; `refused`: it does "
          "not "
          "tell, or this endpoint may not ask; `out_of_reach`; `no_answer`: not in time.")
      .def_property_readonly(
          "round_trip",
          [](const trace_hop& x) { return std::chrono::duration<double>{x.round_trip}.count(); },
          "Seconds from the hop before to this one and back, without what lies behind it.")
      .def_readonly("queued", &trace_hop::queued,
                    "Messages that wait, at the hop before, to be written to this one.")
      .def_readonly("subscribers", &trace_hop::subscribers,
                    "How many subscribers of the node itself want the topic.")
      .def_readonly("waiting", &trace_hop::waiting, "Messages in the fullest of their queues.")
      .def_readonly("remarks", &trace_hop::remarks,
                    "Why messages, or some of them, go no further; a list of sentences.")
      .def("__repr__", [](const trace_hop& x) {
        return "<TraceHop " + (x.name.empty() ? to_string(x.node) : x.name) + ": " +
               std::string{to_string(x.outcome)} + ", " + std::to_string(x.subscribers) +
               " subscribers>";
      });
}

void bind_peer_info(py::module_& m) {
  py::class_<peer_info>(m, "PeerInfo", "One peer of an endpoint.")
      .def_property_readonly(
          "id", [](const peer_info& x) { return id_or_none(x.id); },
          "Its endpoint id; None until the first handshake.")
      .def_readonly("name", &peer_info::name, "What it calls itself; empty where not known.")
      .def_property_readonly(
          "network",
          [](const peer_info& x) {
            return x.network
                       ? std::optional(std::pair(x.network->address, unsigned{x.network->port}))
                       : std::nullopt;
          },
          "Its host and port; None where not known.")
      .def_property_readonly(
          "state", [](const peer_info& x) { return std::string(to_string(x.state)); },
          "connecting, peered or lost.")
      .def_property_readonly(
          "topics",
          [](const peer_info& x) {
            return topic_names({x.filter.begin(), x.filter.end()});
          },
          "The topic prefixes it wants.")
      .def_readonly("counters", &peer_info::counters, "What went over the link.")
      .def_property_readonly(
          "wire_version", [](const peer_info& x) { return unsigned{x.wire_version}; },
          "Version of the peering protocol; 0 unless peered.")
      .def_readonly("client", &peer_info::client,
                    "Whether it passes nothing on, and only its relays know it.")
      .def_readonly("outgoing", &peer_info::outgoing,
                    "Whether this endpoint connects to it (`peer`), and again when it is lost.")
      .def_property_readonly(
          "held_bytes",
          [](const peer_info& x) {
            return std::map<std::string, std::uint64_t>{{"topics", x.held.topics},
                                                        {"reports", x.held.reports},
                                                        {"control", x.held.control},
                                                        {"shared_memory", x.held.shared_memory}};
          },
          "What is held because of it: topics that it has announced, reports, frames it has not "
          "read.")
      .def_property_readonly(
          "access",
          [](const peer_info& x) {
            return x.access.empty() ? std::nullopt : std::optional(x.access);
          },
          "The name of the access rule that holds for it; None where none does.")
      .def("__repr__", [](const peer_info& x) {
        auto where = x.network ? to_string(*x.network) : "?";
        return "<PeerInfo " + to_string(x.id) + " at " + where + ", " +
               std::string(to_string(x.state)) + ">";
      });
}

void bind_node_info(py::module_& m) {
  py::class_<node_info>(m, "NodeInfo", "One node of the network, at any distance.")
      .def_property_readonly(
          "id", [](const node_info& x) { return to_string(x.id); }, "Its endpoint id.")
      .def_readonly("name", &node_info::name, "What it calls itself; empty where not known.")
      .def_property_readonly(
          "next_hop", [](const node_info& x) { return id_or_none(x.next_hop); },
          "Id of the peer that messages for it go to; None if it is out of reach.")
      .def_property_readonly(
          "neighbours",
          [](const node_info& x) {
            std::vector<std::string> result;
            for (const auto& each : x.neighbours)
              result.push_back(to_string(each));
            return result;
          },
          "Ids of its peers, as it reports them.")
      .def_readonly("relays", &node_info::relays, "Whether it passes messages on.")
      .def_property_readonly(
          "topics",
          [](const node_info& x) {
            return topic_names({x.filter.begin(), x.filter.end()});
          },
          "The topic prefixes it wants.")
      .def("__repr__", [](const node_info& x) {
        return "<NodeInfo " + to_string(x.id) +
               (x.next_hop.is_nil() ? ", out of reach>"
                                    : " through " + to_string(x.next_hop) + ">");
      });
}

using endpoint_class = py::class_<endpoint_handle>;

void bind_gateway_info(py::module_& m) {
  py::class_<gateway_info>(m, "GatewayInfo",
                           "What stands for others that speak another protocol, such as a Zeek "
                           "cluster.")
      .def_readonly("uri", &gateway_info::uri, "The address that was given to `peer`.")
      .def_readonly("problem", &gateway_info::problem,
                    "Why the others are not reached, in one sentence; empty where they are.")
      .def_property_readonly(
          "counters",
          [](const gateway_info& x) {
            std::map<std::string, std::uint64_t> result;
            for (const auto& each : x.counters)
              result.emplace(each.name, each.count);
            return result;
          },
          "How often each has happened, by name.")
      .def_property_readonly(
          "lost",
          [](const gateway_info& x) {
            std::uint64_t result = 0;
            for (const auto& each : x.counters)
              result += each.lost ? each.count : 0;
            return result;
          },
          "Messages that did not get through.");
}

void bind_peering(endpoint_class& c) {
  c.def("listen", listen, py::arg("uri"),
        "Accepts peers at `tcp://host:port`, encrypted at `tls://host:port`, or at `unix:///path` "
        "within the host, and returns the port; port 0 picks one, an empty host or `*` means every "
        "address. Raises InvalidArgument, "
        "ListenError, FileError (certificates), Closed.")
      .def("peer", peer, py::arg("uri"), py::arg("retry") = 1.0, py::arg("timeout") = 10.0,
           py::arg("max_retry") = 30.0,
           "Connects to a peer at `tcp://host:port`, `tls://host:port` or `unix:///path`, or to a "
           "Zeek cluster at `zeek+zmq://host` (docs/zeek.md), and waits until the peering is "
           "established, at most `timeout` seconds. "
           "`retry` is the time in seconds before the second attempt; it doubles with each further "
           "one, up to `max_retry`, give or take a quarter. Attempts go on after the time-out and "
           "after a loss; None means a single attempt. Raises InvalidArgument, PeerUnavailable, "
           "TlsFailed, PeerIncompatible, FileError (certificates), Closed.")
      .def(
          "gateways", [](const endpoint_handle& x) { return x.get().gateways(); },
          "What stands for others that have an address of another protocol, one for each that was "
          "given to `peer`.")
      .def("peer_async", peer_async, py::arg("uri"), py::arg("retry") = 1.0,
           py::arg("max_retry") = 30.0,
           "As `peer`, but returns at once; success and failures appear as status events.")
      .def("unpeer", unpeer, py::arg("peer"), py::arg("timeout") = 3.0,
           "Ends a peering, given by URI or endpoint id, after what is queued for it has been "
           "sent; waits at "
           "most `timeout` seconds for the goodbye. Raises NotAPeer, Timeout (the link was cut), "
           "Closed.")
      .def(
          "peers", [](const endpoint_handle& x) { return x.get().peers(); },
          "All peers, also those not reached yet.")
      .def(
          "nodes", [](const endpoint_handle& x) { return x.get().nodes(); },
          "Every other node it knows of, those out of reach included.")
      .def(
          "wait_for_peers",
          [](const endpoint_handle& x, std::size_t n, seconds timeout) {
            auto shared = x.share();
            return wait_for(deadline(timeout),
                            [&](auto left) { return shared->wait_for_peers(n, left); });
          },
          py::arg("n") = 1, py::arg("timeout") = py::none(),
          "Waits until at least `n` peers are peered, at most `timeout` seconds. Returns False on "
          "time-out.")
      .def("wait_for_peer", wait_for_peer, py::arg("id"), py::arg("timeout") = py::none(),
           "Waits until the peer with this endpoint id is peered. Returns False on time-out.");
}

void bind_publishing(endpoint_class& c) {
  c.def(
       "publish",
       [](endpoint_handle& x, const py::str& topic, const any_object& value, seconds timeout) {
         x.open();
         return publish_result_object::own(
             x.publisher_for(topic_bytes(topic))->publish(value.ptr(), timeout));
       },
       py::arg("topic"), py::arg("value"), py::arg("timeout") = py::none(),
       "Publishes to every subscriber here and at any number of hops. Waits while a queue with "
       "policy `block` is full, at most `timeout` seconds: then the result is WOULD_BLOCK, and "
       "nobody got the message. Raises InvalidArgument (topic), EncodeError, LimitExceeded, "
       "Closed.")
      .def(
          "try_publish",
          [](endpoint_handle& x, const py::str& topic, const any_object& value) {
            x.open();
            return publish_result_object::own(
                x.publisher_for(topic_bytes(topic))->try_publish(value.ptr()));
          },
          py::arg("topic"), py::arg("value"),
          "As `publish`, but never waits: WOULD_BLOCK says that nobody got it.")
      .def(
          "publish_batch",
          [](endpoint_handle& x, const py::str& topic, const py::iterable& values) {
            x.open();
            return x.publisher_for(topic_bytes(topic))->publish_batch(values);
          },
          py::arg("topic"), py::arg("values"),
          "Publishes every value of an iterable, one message each, and returns their number.")
      .def(
          "subscribers",
          [](const endpoint_handle& x, const py::str& topic) {
            return x.get().subscribers(topic_bytes(topic));
          },
          py::arg("topic"), "Number of local subscribers plus number of peers that want `topic`.")
      .def(
          "wait_for_subscribers",
          [](const endpoint_handle& x, const py::str& topic, std::size_t n, seconds timeout) {
            auto shared = x.share();
            auto name = topic_bytes(topic);
            return wait_for(deadline(timeout),
                            [&](auto left) { return shared->wait_for_subscribers(name, n, left); });
          },
          py::arg("topic"), py::arg("n") = 1, py::arg("timeout") = py::none(),
          "Waits until at least `n` subscribers or peers want `topic`; a peer that relays counts "
          "once. Returns "
          "False on time-out.");
}

} // namespace

void bind_endpoint(py::module_& m) {
  m.def("read_access_rules", read_rules, py::arg("path"));
  bind_peer_info(m);
  bind_gateway_info(m);
  bind_trace(m);
  bind_node_info(m);
  endpoint_class c(m, "Endpoint", "A node of the publish/subscribe network.");
  c.def(py::init([](const std::optional<std::string>& id, std::optional<bool> forwards, bool own,
                    unsigned io_threads, std::size_t link_capacity, std::size_t link_capacity_bytes,
                    const std::string& link_policy, const std::vector<py::str>& forward_topics,
                    double connect_timeout, double handshake_timeout, double close_timeout,
                    double liveness_timeout, bool serve_status, const std::string& certificate,
                    const std::string& key, const std::string& passphrase,
                    const std::string& ca_file, const std::string& ca_path, const std::string& name,
                    bool broker_transit, bool shares_memory, std::size_t memory_ring,
                    bool huge_pages, std::optional<unsigned> numa_node) {
          return make_endpoint(id, forwards, own, io_threads,
                               make_queue_options(link_capacity, link_capacity_bytes, link_policy),
                               forward_topics, connect_timeout, handshake_timeout, close_timeout,
                               liveness_timeout, serve_status,
                               {.certificate = certificate,
                                .key = key,
                                .passphrase = passphrase,
                                .ca_file = ca_file,
                                .ca_path = ca_path},
                               name, broker_transit,
                               {.use = shares_memory ? shared_memory::on : shared_memory::off,
                                .ring_bytes = memory_ring,
                                .pages = huge_pages ? memory_pages::huge : memory_pages::normal,
                                .numa_node = numa_node});
        }),
        py::arg("id"), py::arg("forwarding"), py::arg("own_messages"), py::arg("io_threads"),
        py::arg("link_capacity"), py::arg("link_capacity_bytes"), py::arg("link_policy"),
        py::arg("forward_topics"), py::arg("connect_timeout"), py::arg("handshake_timeout"),
        py::arg("close_timeout"), py::arg("liveness_timeout"), py::arg("serve_status"),
        py::arg("certificate"), py::arg("key"), py::arg("passphrase"), py::arg("ca_file"),
        py::arg("ca_path"), py::arg("name"), py::arg("broker_transit"), py::arg("shared_memory"),
        py::arg("memory_ring"), py::arg("huge_pages"), py::arg("numa_node"));
  c.def("set_access_rules", set_access, py::arg("rules"));
  bind_peering(c);
  bind_publishing(c);
  c.def_property_readonly(
       "id", [](const endpoint_handle& x) { return to_string(x.get().id()); },
       "Its name in the network, a UUID.")
      .def_property_readonly(
          "name", [](const endpoint_handle& x) { return x.get().name(); }, "What people call it.")
      .def(
          "set_tls_files",
          [](const endpoint_handle& x, const std::string& certificate, const std::string& key,
             const std::string& passphrase, const std::string& ca_file,
             const std::string& ca_path) {
            const tls_options tls{certificate, key, passphrase, ca_file, ca_path};
            x.open();
            call_or_raise(x, [tls](endpoint& e) { return e.set_tls(tls); });
          },
          py::arg("certificate"), py::arg("key"), py::arg("passphrase"), py::arg("ca_file"),
          py::arg("ca_path"))
      .def("retire", retire, py::arg("timeout") = py::none(),
           "For a relay that is to be closed while others go on: lets them choose routes that do "
           "not lead over it, passes on what is on its way, and parts from its clients; at most "
           "`timeout` seconds. Returns whether all that was done in time.")
      .def_property_readonly(
          "topics",
          [](const endpoint_handle& x) {
            auto all = x.get().filter();
            return topic_names({all.begin(), all.end()});
          },
          "What it announces: the topics of its subscribers, of its peers, and `forward_topics`.")
      .def(
          "counters", [](const endpoint_handle& x) { return x.get().counters(); },
          "What it published and passed on.")
      .def("flush", flush, py::arg("timeout") = py::none(),
           "Waits until everything published so far has been written to the peers' sockets, at "
           "most `timeout` "
           "seconds. Returns the number of messages still waiting: 0 on success.")
      .def(
          "drain", drain, py::arg("timeout") = py::none(),
          "Waits until everything published or received before the call has been taken out of the "
          "queues of local subscribers, and every peer has confirmed that it has read all that was "
          "sent to it; at most `timeout` seconds. Returns the number of messages left: 0 on "
          "success; a peer that has not confirmed counts at least 1.")
      .def(
          "status_text", [](const endpoint_handle& x) { return x.get().status_text(); },
          "How it is, as JSON; see `status`.")
      .def(
          "metrics_text", [](const endpoint_handle& x) { return x.get().metrics_text(); },
          "How it is, in the text format of Prometheus (`text/plain; version=0.0.4`), and what the "
          "process uses.")
      .def(
          "network_text",
          [](const endpoint_handle& x, std::size_t max_bytes) {
            return x.get().network_text(max_bytes);
          },
          py::arg("max_bytes") = 256'000, "As `network`, as JSON.")
      .def("status_text_of", status_text_of, py::arg("node"), py::arg("timeout") = py::none(),
           py::arg("max_bytes") = 64'000, "As `status_of`, as JSON.")
      .def("network_text_of", network_text_of, py::arg("node"), py::arg("timeout") = py::none(),
           py::arg("max_bytes") = 256'000, "As `network_of`, as JSON.")
      .def(
          "trace", trace, py::arg("topic"), py::arg("timeout") = py::none(),
          "Where a message on this topic would go now, were it published here: every node that it "
          "comes to, each behind the one it comes from, this endpoint first. A node asks 64 of its "
          "peers at most. No message is published.\n\n"
          "Raises InvalidArgument (no topic), PeerUnavailable, Timeout, Closed.")
      .def_property_readonly("closed", &endpoint_handle::closed, "Whether `close` was called.")
      .def_property_readonly("forked", &endpoint_handle::forked,
                             "Whether it belongs to a parent process.")
      .def(
          "close", [](endpoint_handle& x, seconds timeout) { x.close(to_milliseconds(timeout)); },
          py::arg("timeout") = 3.0,
          "Sends what is queued, says goodbye to all peers, waits at most `timeout` seconds, and "
          "closes "
          "everything: subscribers drain and end. Idempotent.");
}

} // namespace pubsub::python
