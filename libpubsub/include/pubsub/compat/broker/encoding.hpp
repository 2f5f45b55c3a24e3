// Broker's values to encoded bytes and back, without a tree of the library's in between.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include <pubsub/compat/broker/data_functions.hpp>
#include <pubsub/data_view.hpp>
#include <pubsub/data_writer.hpp>

namespace broker {
inline namespace over_pubsub {
namespace detail {

inline void encode(pubsub::data_writer& out, const data& x);

struct value_encoder {
  pubsub::data_writer& out;

  void operator()(none) const { out.write_none(); }
  void operator()(boolean x) const { out.write_boolean(x); }
  void operator()(count x) const { out.write_count(x); }
  void operator()(integer x) const { out.write_integer(x); }
  void operator()(real x) const { out.write_real(x); }
  void operator()(const std::string& x) const { out.write_string(x); }
  void operator()(const address& x) const { out.write_address(x.native()); }
  void operator()(const subnet& x) const { out.write_subnet(x.native()); }
  void operator()(const port& x) const { out.write_port(x.native()); }
  void operator()(timestamp x) const { out.write_timestamp(x); }
  void operator()(timespan x) const { out.write_timespan(x); }
  void operator()(const enum_value& x) const { out.write_enum(x.name); }
  void operator()(const set& x) const {
    out.begin_set(x.size());
    for (const auto& member : x)
      encode(out, member);
  }
  void operator()(const table& x) const {
    out.begin_table(x.size());
    for (const auto& [key, value] : x) {
      encode(out, key);
      encode(out, value);
    }
  }
  void operator()(const vector& x) const {
    out.begin_vector(x.size());
    for (const auto& member : x)
      encode(out, member);
  }
};

inline void encode(pubsub::data_writer& out, const data& x) {
  visit(value_encoder{out}, x);
}

inline pubsub::data_writer encoded(const data& x) {
  pubsub::data_writer out;
  encode(out, x);
  return out;
}

inline data decode(const pubsub::data_view& x);

inline set decode_set(const pubsub::data_view& x) {
  set result;
  for (const auto member : x.elements())
    result.insert(result.end(), decode(member));
  return result;
}
inline table decode_table(const pubsub::data_view& x) {
  table result;
  for (const auto entry : x.entries())
    result.emplace_hint(result.end(), decode(entry.key), decode(entry.value));
  return result;
}
inline vector decode_vector(const pubsub::data_view& x) {
  vector result;
  result.reserve(x.size());
  for (const auto member : x.elements())
    result.push_back(decode(member));
  return result;
}

inline data decode(const pubsub::data_view& x) {
  using enum pubsub::data_type;
  switch (x.type()) {
  case none:
    break;
  case boolean:
    return x.as_boolean();
  case count:
    return x.as_count();
  case integer:
    return x.as_integer();
  case real:
    return x.as_real();
  case string:
    return x.as_string();
  case address:
    return over_pubsub::address{x.as_address()};
  case subnet:
    return over_pubsub::subnet{x.as_subnet()};
  case port:
    return over_pubsub::port{x.as_port()};
  case timestamp:
    return x.as_timestamp();
  case timespan:
    return x.as_timespan();
  case enum_value:
    return over_pubsub::enum_value{std::string{x.as_enum()}};
  case set:
    return decode_set(x);
  case table:
    return decode_table(x);
  case vector:
    return decode_vector(x);
  }
  return {};
}

} // namespace detail
} // namespace over_pubsub
} // namespace broker
