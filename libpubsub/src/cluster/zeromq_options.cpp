// SPDX-License-Identifier: BSD-3-Clause
#include <pubsub/cluster/zeromq_options.hpp>

#include "cluster/uri_parts.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <utility>

#include <zmq.h>

namespace pubsub::cluster {

namespace {

constexpr std::string_view scheme = "zeek+zmq://";
constexpr std::string_view expected_form =
    "expected "
    "zeek+zmq://HOST?xpub=5556&xsub=5555&logs=PORT&log-to=HOST:PORT&format=json&names=as-they-are&"
    "curve=FOLDER";

error bad(std::string_view uri, std::string_view why) {
  return {errc::invalid_argument,
          std::string{uri} + ": " + std::string{why} + "; " + std::string{expected_form}};
}

/// One `name=value` of an address.
expected<void> apply(std::string_view name, std::string_view value, std::string_view host,
                     std::string_view uri, zeromq_options& out, std::string& curve) {
  const auto at_host = [&] { return "tcp://" + std::string{host} + ":" + std::string{value}; };
  if (name == "xpub" || name == "xsub" || name == "logs") {
    if (!is_port(value))
      return bad(uri, std::string{name} + " is not a port");
    if (name == "xpub")
      out.publish_to = at_host();
    else if (name == "xsub")
      out.subscribe_at = at_host();
    else
      out.logs_at = "tcp://*:" + std::string{value};
  } else if (name == "log-to") {
    const auto colon = value.rfind(':');
    if (colon == 0 || colon == std::string_view::npos || !is_port(value.substr(colon + 1)))
      return bad(uri, "log-to is not HOST:PORT");
    out.logs_to.push_back("tcp://" + std::string{value});
  } else if (name == "stream") {
    const auto colon = value.find(':');
    if (colon == 0 || colon == std::string_view::npos || colon + 1 == value.size())
      return bad(uri, "stream is not PATH:NAME, as flows:Flows::LOG");
    out.log_streams.insert_or_assign(std::string{value.substr(0, colon)},
                                     std::string{value.substr(colon + 1)});
  } else if (name == "format" && (value == "binary" || value == "json")) {
    out.serializer =
        value == "json" ? event_serializer::broker_json_v1 : event_serializer::broker_bin_v1;
  } else if (name == "names" && (value == "mapped" || value == "as-they-are")) {
    out.topics = value == "mapped" ? topic_names::mapped : topic_names::as_they_are;
  } else if (name == "curve" && !value.empty()) {
    curve = value; // the keys are read once it is known whether logs are to be accepted
  } else {
    return bad(uri, "\"" + std::string{name} + "=" + std::string{value} + "\" means nothing");
  }
  return {};
}

} // namespace

expected<void> check(const zeromq_options& options) {
  const auto bad_field = [](const std::string& why) { return error{errc::invalid_argument, why}; };
  for (const auto& [name, queue] :
       {std::pair{"outgoing", &options.outgoing}, std::pair{"incoming", &options.incoming},
        std::pair{"log_queue", &options.log_queue}})
    if (auto checked = check(*queue); !checked)
      return bad_field(std::string{name} + ": " + checked.error().context());
  if (options.incoming.policy == overflow_policy::block ||
      options.incoming.policy == overflow_policy::disconnect)
    return bad_field("incoming.policy must drop: a member that does not read stops the proxy for "
                     "all others");
  if (options.log_queue.policy == overflow_policy::block ||
      options.log_queue.policy == overflow_policy::disconnect)
    return bad_field("log_queue.policy must drop: events shall not wait for logs");
  if (options.timeout <= std::chrono::nanoseconds::zero())
    return bad_field("timeout must be positive");
  if (options.liveness_timeout < std::chrono::nanoseconds::zero())
    return bad_field("liveness_timeout must not be negative");
  if (options.curve)
    return check(*options.curve, options.logs_at ? curve_role::both : curve_role::client);
  return {};
}

expected<zeromq_options> zeromq_options_from(std::string_view uri) {
  if (!uri.starts_with(scheme))
    return bad(uri, "another kind of address");
  auto rest = uri.substr(scheme.size());
  auto host = take_until('?', rest);
  if (host.ends_with('/'))
    host.remove_suffix(1);
  const bool bracketed = host.starts_with('[') && host.ends_with(']');
  if (host.empty() || (!bracketed && host.find_first_of(":/") != std::string_view::npos))
    return bad(uri, "the host is malformed; ports are named behind the ?");
  zeromq_options result;
  result.publish_to = "tcp://" + std::string{host} + ":5556";
  result.subscribe_at = "tcp://" + std::string{host} + ":5555";
  std::string curve;
  while (!rest.empty()) {
    auto value = take_until('&', rest);
    const auto name = take_until('=', value);
    if (auto applied = apply(name, value, host, uri, result, curve); !applied)
      return applied.error();
  }
  if (!curve.empty()) {
    const auto role = result.logs_at ? curve_role::both : curve_role::client;
    auto keys =
        curve == "environment" ? curve_keys_from_environment(role) : read_curve_keys(curve, role);
    if (!keys)
      return keys.error();
    result.curve = std::move(*keys);
  }
  return result;
}

} // namespace pubsub::cluster
