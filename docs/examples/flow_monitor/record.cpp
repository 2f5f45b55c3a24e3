#include "record.hpp"

#include <fmt/format.h>

#include <utility>

namespace flow_monitor {
namespace {

pubsub::transport port_protocol(transport proto) {
  switch (proto) {
  case transport::tcp:
    return pubsub::transport::tcp;
  case transport::udp:
    return pubsub::transport::udp;
  case transport::icmp:
  case transport::icmp6:
    return pubsub::transport::icmp;
  }
  return pubsub::transport::unknown;
}

// Zeek's transport_proto has one name for both kinds of ICMP.
std::string_view protocol_name(transport proto) {
  switch (proto) {
  case transport::tcp:
    return "tcp";
  case transport::udp:
    return "udp";
  case transport::icmp:
  case transport::icmp6:
    return "icmp";
  }
  return "unknown_transport";
}

template <class T>
pubsub::data value_or_none(const std::optional<T>& x) {
  return x ? pubsub::data{*x} : pubsub::data{};
}

pubsub::data value_or_none(const std::string& text) {
  return text.empty() ? pubsub::data{} : pubsub::data{text};
}

pubsub::data value_or_none(const std::optional<mac_address>& mac) {
  return mac ? pubsub::data{fmt::format("{:02x}", fmt::join(*mac, ":"))} : pubsub::data{};
}

pubsub::data value_or_none(const std::optional<std::set<std::string>>& texts) {
  if (!texts)
    return {};
  pubsub::set result;
  for (const auto& text : *texts)
    result.emplace(text);
  return result;
}

} // namespace

const std::array<column, column_count>& columns() {
  static constexpr std::array<column, column_count> all{{
      {"ts", "time"},          {"uid", "string"},          {"id.orig_h", "addr"},
      {"id.orig_p", "port"},   {"id.resp_h", "addr"},      {"id.resp_p", "port"},
      {"proto", "enum"},       {"service", "string"},      {"duration", "interval"},
      {"orig_bytes", "count"}, {"resp_bytes", "count"},    {"conn_state", "string"},
      {"local_orig", "bool"},  {"local_resp", "bool"},     {"missed_bytes", "count"},
      {"history", "string"},   {"orig_pkts", "count"},     {"orig_ip_bytes", "count"},
      {"resp_pkts", "count"},  {"resp_ip_bytes", "count"}, {"tunnel_parents", "set[string]"},
      {"ip_proto", "count"},   {"orig_l2_addr", "string"}, {"resp_l2_addr", "string"},
  }};
  return all;
}

pubsub::vector to_values(const conn_record& r) {
  const auto protocol = port_protocol(r.proto);
  pubsub::vector values;
  values.reserve(column_count);
  values.emplace_back(r.ts);
  values.emplace_back(r.uid);
  values.emplace_back(r.orig_h);
  values.emplace_back(pubsub::port{r.orig_p, protocol});
  values.emplace_back(r.resp_h);
  values.emplace_back(pubsub::port{r.resp_p, protocol});
  values.emplace_back(pubsub::enum_value{std::string{protocol_name(r.proto)}});
  values.push_back(value_or_none(r.service));
  values.push_back(value_or_none(r.duration));
  values.push_back(value_or_none(r.orig_bytes));
  values.push_back(value_or_none(r.resp_bytes));
  values.push_back(value_or_none(r.conn_state));
  values.push_back(value_or_none(r.local_orig));
  values.push_back(value_or_none(r.local_resp));
  values.emplace_back(r.missed_bytes);
  values.push_back(value_or_none(r.history));
  values.emplace_back(r.orig_pkts);
  values.emplace_back(r.orig_ip_bytes);
  values.emplace_back(r.resp_pkts);
  values.emplace_back(r.resp_ip_bytes);
  values.push_back(value_or_none(r.tunnel_parents));
  values.emplace_back(r.ip_proto);
  values.push_back(value_or_none(r.orig_l2_addr));
  values.push_back(value_or_none(r.resp_l2_addr));
  return values;
}

pubsub::zeek::log_schema schema() {
  pubsub::zeek::log_schema result;
  result.path = "conn";
  result.version = 1;
  for (const auto& [name, type] : columns())
    result.fields.push_back({std::string{name}, std::string{type}});
  return result;
}

} // namespace flow_monitor
