// Bridges to engines that keep messages, as Python opens them.
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string_view>

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <pybind11/typing.h>

#include <pubsub/bridge/clickhouse.hpp>

#include "bind.hpp"
#include "bridge_handles.hpp"
#include "endpoint_handle.hpp"
#include "options.hpp"
#include "times.hpp"
#include "typed.hpp"

namespace pubsub::python {

namespace {

/// A class for Python: it would take the variant itself apart.
struct bridge_engine {
  bridge::engine it;
};

constexpr std::array<std::pair<std::string_view, bridge::payload_format>, 6> formats{{
    {"zeek-json", bridge::payload_format::zeek_json},
    {"json", bridge::payload_format::json},
    {"binary", bridge::payload_format::binary},
    {"avro", bridge::payload_format::avro},
    {"plain-json", bridge::payload_format::plain_json},
    {"string", bridge::payload_format::string},
}};

bridge::payload_format format_of(const std::string& name) {
  const auto* const found =
      std::ranges::find(formats, name, [](const auto& each) { return each.first; });
  if (found == formats.end())
    raise(types.invalid_argument,
          "a format is zeek-json, json, binary, avro, plain-json or string, not " + name);
  return found->second;
}

bridge::redis_list list_of(const std::string& name) {
  if (name == "rpush")
    return bridge::redis_list::rpush;
  if (name == "lpush")
    return bridge::redis_list::lpush;
  if (!name.empty())
    raise(types.invalid_argument, "a list is written to by rpush or lpush, not " + name);
  return bridge::redis_list::none;
}

/// Seconds as they are, so that the library says what is wrong with them.
std::chrono::nanoseconds span_of(const char* what, double seconds) {
  constexpr double longest = 1e9; // 30 years
  if (std::isnan(seconds))
    raise(types.invalid_argument, std::string{what} + " is a number of seconds, not nan");
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
      std::chrono::duration<double>{std::clamp(seconds, -longest, longest)});
}

bridge::start_position start_of(const any_object& x, bool has_group) {
  if (x.is_none())
    return value_or_raise(bridge::parse_start(has_group ? "stored" : "beginning"));
  if (is_datetime(x.ptr()))
    return {bridge::start_position::kind::time, to_timestamp(x.ptr()), {}};
  return value_or_raise(bridge::parse_start(py::str(x).cast<std::string>()));
}

std::unique_ptr<bridge_sink_handle>
make_sink(const endpoint_handle& owner, const bridge_engine& engine,
          const std::vector<py::str>& topics, const std::string& pipeline,
          const std::optional<condition>& where, const std::string& to, const std::string& key,
          const std::string& format, bool headers, const std::string& dead_letters,
          const std::string& network, bool except_own, std::size_t capacity,
          std::size_t capacity_bytes, const std::string& policy, double close_timeout) {
  owner.open();
  bridge::sink_options options;
  options.topics = make_filter(topics);
  options.pipeline = pipeline;
  options.where = where;
  options.to = to;
  options.key = key;
  options.format = format_of(format);
  options.headers = headers;
  options.dead_letters = dead_letters;
  options.network = network;
  options.except_own = except_own;
  options.queue = make_queue_options(capacity, capacity_bytes, policy);
  options.close_timeout = span_of("close_timeout", close_timeout);
  return std::make_unique<bridge_sink_handle>(owner.share(), engine.it, options);
}

std::unique_ptr<bridge_source_handle>
make_source(const endpoint_handle& owner, const bridge_engine& engine,
            std::vector<std::string> from, const std::string& group, const any_object& start,
            const py::str& publish, const std::string& pipeline,
            const std::optional<std::string>& format, double rate, bool until_end, bool returned,
            const std::string& network, const py::str& dead_letters, double commit_interval,
            double close_timeout) {
  owner.open();
  bridge::source_options options;
  options.from = std::move(from);
  options.group = group;
  options.start = start_of(start, !group.empty());
  options.publish = topic_bytes(publish);
  options.pipeline = pipeline;
  if (format)
    options.format = format_of(*format);
  options.rate = rate;
  options.until_end = until_end;
  options.returned = returned;
  options.network = network;
  options.dead_letters = topic_bytes(dead_letters);
  options.commit_interval = span_of("commit_interval", commit_interval);
  options.close_timeout = span_of("close_timeout", close_timeout);
  return std::make_unique<bridge_source_handle>(owner.share(), engine.it, options);
}

// -- what both ends have -------------------------------------------------------------------------

using numbers = py::typing::Dict<py::str, py::int_>;

std::pair<numbers, numbers> describe(const bridge::bridge_counters& x) {
  numbers all;
  all["consumed"] = x.consumed;
  all["delivered"] = x.delivered;
  all["in_flight"] = x.in_flight;
  all["dead_letters"] = x.dead_letters;
  all["redelivered"] = x.redelivered;
  all["bytes"] = x.bytes;
  all["lag"] = x.lag;
  numbers rejected;
  for (const auto& [reason, n] : bridge::by_reason(x.rejected))
    rejected[py::str(reason)] = n;
  return {all, rejected};
}

template <class Handle>
void bind_both(py::class_<Handle>& c) {
  c.def(
       "counters_now", [](const Handle& x) { return describe(x.counters()); },
       "All counters by name, and what was rejected by reason.")
      .def_property_readonly("closed", &Handle::closed,
                             "Whether it has come to its end, by `close` or because of a "
                             "`failure`.")
      .def_property_readonly(
          "failure",
          [](const Handle& x) {
            const auto why = x.failure();
            const auto result = why ? to_exception(why) : py::none();
            return error_or_none::own(py::object(result).release().ptr());
          },
          "Why it has come to its end by itself: an exception that says what the engine has said. "
          "None if it has not.")
      .def_property_readonly("last_problem", &Handle::last_problem,
                             "What the engine's library has complained about last, such as an "
                             "address that does not answer; empty if nothing. It goes on trying.")
      .def_property_readonly("forked", &Handle::forked, "Whether it belongs to a parent process.");
}

void bind_sink(py::module_& m) {
  py::class_<bridge_sink_handle> c(m, "BridgeSink");
  c.def(py::init(&make_sink), py::arg("endpoint"), py::arg("engine"), py::arg("topics"),
        py::arg("pipeline"), py::arg("where"), py::arg("to"), py::arg("key"), py::arg("format"),
        py::arg("headers"), py::arg("dead_letters"), py::arg("network"), py::arg("except_own"),
        py::arg("capacity"), py::arg("capacity_bytes"), py::arg("policy"),
        py::arg("close_timeout"));
  bind_both(c);
  c.def("wait_ready", &bridge_sink_handle::wait_ready, py::arg("timeout") = py::none(),
        "Waits until every node within reach knows which topics are wanted, or an exchange is "
        "bound, at most `timeout` seconds. Returns whether they do; False if it is closed "
        "meanwhile.")
      .def("drain", &bridge_sink_handle::drain, py::arg("timeout") = py::none(),
           "Waits until everything that was published or sent, and is here, is with the engine, at "
           "most `timeout` seconds; returns how many messages or tasks are not.")
      .def("close", &bridge_sink_handle::close,
           "Takes no more, waits until the engine has confirmed what was taken, for "
           "`close_timeout` seconds at most, and ends. Idempotent.");
}

void bind_source(py::module_& m) {
  py::class_<bridge_source_handle> c(m, "BridgeSource");
  c.def(py::init(&make_source), py::arg("endpoint"), py::arg("engine"), py::arg("from_"),
        py::arg("group"), py::arg("start"), py::arg("publish"), py::arg("pipeline"),
        py::arg("format"), py::arg("rate"), py::arg("until_end"), py::arg("returned"),
        py::arg("network"), py::arg("dead_letters"), py::arg("commit_interval"),
        py::arg("close_timeout"));
  bind_both(c);
  c.def("wait_end", &bridge_source_handle::wait_end, py::arg("timeout") = py::none(),
        "Waits until it has come to its end (`until_end`, `close`, a failure), at most `timeout` "
        "seconds; returns whether it has.")
      .def("close", &bridge_source_handle::close,
           "Reads no more, waits until what was read is confirmed, for `close_timeout` seconds at "
           "most, tells the engine, and ends. Idempotent.");
}

// -- engines -------------------------------------------------------------------------------------

void bind_engine(py::module_& m) {
  py::class_<bridge_engine>(m, "BridgeEngine", "Where a bridge leads to.")
      .def_static(
          "kafka",
          [](std::string brokers, std::map<std::string, std::string> settings, std::string id,
             std::string positions) {
            return bridge_engine{bridge::kafka{std::move(brokers), std::move(settings),
                                               std::move(id), std::move(positions)}};
          },
          py::arg("brokers"), py::arg("settings"), py::arg("transactional_id"),
          py::arg("positions"))
      .def_static(
          "jetstream",
          [](std::string url, std::string stream, std::string subjects, std::string credentials,
             std::string ca, std::string certificate, std::string key) {
            return bridge_engine{bridge::jetstream{
                std::move(url), std::move(stream), std::move(subjects), std::move(credentials),
                std::move(ca), std::move(certificate), std::move(key)}};
          },
          py::arg("url"), py::arg("stream"), py::arg("subjects"), py::arg("credentials"),
          py::arg("ca"), py::arg("certificate"), py::arg("key"))
      .def_static(
          "redis",
          [](std::string url, std::uint64_t max_length, std::string field,
             const std::string& list) {
            return bridge_engine{
                bridge::redis{std::move(url), max_length, std::move(field), list_of(list)}};
          },
          py::arg("url"), py::arg("max_length"), py::arg("field"), py::arg("list"));
}

std::string clickhouse_ddl(std::string path,
                           const std::vector<std::pair<std::string, std::string>>& columns,
                           std::string database, std::string table, std::string brokers,
                           std::string topic, std::string group) {
  zeek::log_schema schema{std::move(path), {}, 1};
  for (const auto& [name, type] : columns)
    schema.fields.push_back({name, type});
  return value_or_raise(
      bridge::clickhouse_ddl(schema, {std::move(database), std::move(table), std::move(brokers),
                                      std::move(topic), std::move(group)}));
}

} // namespace

void bind_bridge(py::module_& m) {
  bind_engine(m);
  bind_sink(m);
  bind_source(m);
  m.def("clickhouse_ddl", &clickhouse_ddl, py::arg("path"), py::arg("columns"), py::arg("database"),
        py::arg("table"), py::arg("brokers"), py::arg("topic"), py::arg("group"));
  m.def(
      "clickhouse_type",
      [](const std::string& zeek_type) {
        return value_or_raise(bridge::clickhouse_type(zeek_type));
      },
      py::arg("zeek_type"));
}

} // namespace pubsub::python
