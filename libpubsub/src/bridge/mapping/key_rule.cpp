// SPDX-License-Identifier: BSD-3-Clause
#include "bridge/mapping/key_rule.hpp"

#include "bridge/mapping/community_id.hpp"
#include "bridge/mapping/record_source.hpp"

namespace pubsub::bridge {

namespace {

constexpr std::string_view field_prefix = "field:";

std::string text_of(const data& x) {
  const auto* const text = x.get_if<std::string>();
  return text != nullptr ? *text : to_string(x);
}

template <class T>
const T* typed_column(const zeek::log_schema& schema, const vector& values, std::string_view name) {
  const auto* const found = column_of(schema, values, name);
  return found == nullptr ? nullptr : found->get_if<T>();
}

transport protocol_of(const zeek::log_schema& schema, const vector& values, transport otherwise) {
  const auto* const column = column_of(schema, values, "proto");
  if (column == nullptr)
    return otherwise;
  const auto* const label = column->get_if<enum_value>();
  const auto name = label != nullptr ? std::string{label->name()} : text_of(*column);
  return name == "tcp"    ? transport::tcp
         : name == "udp"  ? transport::udp
         : name == "icmp" ? transport::icmp
                          : otherwise;
}

/// As Zeek's script has put it there, or computed.
std::optional<std::string> community_id(const zeek::log_schema& schema, const vector& values) {
  if (const auto* const known = column_of(schema, values, "community_id"))
    return text_of(*known);
  const auto* const from = typed_column<address>(schema, values, "id.orig_h");
  const auto* const from_port = typed_column<port>(schema, values, "id.orig_p");
  const auto* const to = typed_column<address>(schema, values, "id.resp_h");
  const auto* const to_port = typed_column<port>(schema, values, "id.resp_p");
  if (from == nullptr || from_port == nullptr || to == nullptr || to_port == nullptr)
    return {};
  return community_id_of({*from, from_port->number(), *to, to_port->number(),
                          protocol_of(schema, values, to_port->protocol())});
}

} // namespace

expected<key_rule> key_rule::parse(std::string_view text) {
  key_rule result;
  if (text == "origin") {
    result.what_ = kind::origin;
  } else if (text == "topic") {
    result.what_ = kind::topic;
  } else if (text == "none") {
    result.what_ = kind::none;
  } else if (text == "community_id") {
    result.what_ = kind::community_id;
  } else if (text.starts_with(field_prefix) && text.size() > field_prefix.size()) {
    result.what_ = kind::field;
    result.field_ = text.substr(field_prefix.size());
  } else {
    return error{errc::invalid_argument, "key '" + std::string{text} +
                                             "' is none of origin, topic, field:NAME, "
                                             "community_id, none"};
  }
  return result;
}

void key_rule::add_key(std::string& out, std::string_view origin, std::string_view topic) const {
  if (what_ == kind::origin && !origin.empty()) {
    out.reserve(origin.size() + 1 + topic.size());
    out.append(origin) += ' ';
  }
  if (what_ == kind::origin || what_ == kind::topic)
    out += topic;
}

bool key_rule::add_key(std::string& out, const zeek::log_schema& schema,
                       const vector& values) const {
  if (what_ == kind::community_id) {
    const auto id = community_id(schema, values);
    if (id)
      out += *id;
    return id.has_value();
  }
  const auto* const value = column_of(schema, values, field_);
  if (value != nullptr)
    out += text_of(*value);
  return value != nullptr;
}

} // namespace pubsub::bridge
