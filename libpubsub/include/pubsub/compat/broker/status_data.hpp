// Statuses and errors as Broker writes them into messages.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <concepts>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include <pubsub/compat/broker/message.hpp>
#include <pubsub/compat/broker/status.hpp>

namespace broker {
inline namespace over_pubsub {

/// An id; an address, a port and the seconds of `retry`, or three times nothing.
inline bool convert(const endpoint_info& from, data& to) {
  vector fields(4);
  if (from.node)
    fields[0] = to_string(from.node);
  if (from.network) {
    fields[1] = from.network->address;
    fields[2] = port{from.network->port, port::protocol::tcp};
    fields[3] = static_cast<count>(from.network->retry.count());
  }
  to = std::move(fields);
  return true;
}
template <std::same_as<data> T>
bool convert(const T& from, endpoint_info& to) {
  const auto& fields = from.to_list();
  if (fields.size() != 4 || !(fields[0].is_none() || fields[0].is_string()))
    return false;
  endpoint_info result;
  if (fields[0].is_string() && !convert(std::string{fields[0].to_string()}, result.node))
    return false;
  if (fields[1].is_string() && fields[2].is_port() && fields[3].is_count())
    result.network.emplace(
        std::string{fields[1].to_string()}, fields[2].to_port().number(),
        timeout::seconds{static_cast<timeout::seconds::rep>(fields[3].to_count())});
  else if (!fields[1].is_none() || !fields[2].is_none() || !fields[3].is_none())
    return false;
  to = std::move(result);
  return true;
}

/// `status`, the code, the endpoint and the message; the latter two are none for `unspecified`.
inline bool convert(const status& from, data& to) {
  vector fields{"status", enum_value{to_string(from.code())}, nil, nil};
  if (const auto* about = from.context()) {
    convert(*about, fields[2]);
    fields[3] = *from.message();
  }
  to = std::move(fields);
  return true;
}
template <std::same_as<data> T>
bool convert(const T& from, status& to) {
  const auto& fields = from.to_list();
  auto code = sc::unspecified;
  if (fields.size() != 4 || fields[0].to_string() != "status" || !convert(fields[1], code))
    return false;
  if (code == sc::unspecified) {
    to = {};
    return fields[2].is_none() && fields[3].is_none();
  }
  endpoint_info about;
  if (!convert(fields[2], about) || !fields[3].is_string())
    return false;
  to = status{code, std::move(about), std::string{fields[3].to_string()}};
  return true;
}

/// `error`, the code, and a vector of the endpoint, if it is about one, and the message; none
/// without a message.
inline bool convert(const error& from, data& to) {
  vector fields{"error", enum_value{to_string(static_cast<ec>(from.code()))}, nil};
  if (from.message() != nullptr) {
    vector context;
    if (from.context() != nullptr)
      convert(*from.context(), context.emplace_back());
    context.emplace_back(*from.message());
    fields[2] = std::move(context);
  }
  to = std::move(fields);
  return true;
}
template <std::same_as<data> T>
bool convert(const T& from, error& to) {
  const auto& fields = from.to_list();
  auto code = ec::none;
  if (fields.size() != 3 || fields[0].to_string() != "error" || !convert(fields[1], code))
    return false;
  const auto& context = fields[2].to_list();
  endpoint_info about;
  if (fields[2].is_none())
    to = error{code};
  else if (context.size() == 1 && context[0].is_string())
    to = error{code, std::string{context[0].to_string()}};
  else if (context.size() == 2 && convert(context[0], about) && context[1].is_string())
    to = error{code, std::move(about), std::string{context[1].to_string()}};
  else
    return false;
  return true;
}

namespace detail {

/// The message by which Broker tells of this event.
inline data_message as_message(const status_variant& event) {
  data content;
  const auto* problem = std::get_if<error>(&event);
  if (problem != nullptr)
    convert(*problem, content);
  else if (const auto* change = std::get_if<status>(&event))
    convert(*change, content);
  return make_data_message(problem != nullptr ? topic::errors() : topic::statuses(),
                           std::move(content));
}

} // namespace detail

} // namespace over_pubsub
} // namespace broker
