// An endpoint of Broker, for tests of the bridge, whichever version it is of.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <broker/broker.hh>
#include <broker/configuration.hh>
#include <broker/data.hh>
#include <broker/endpoint.hh>
#include <broker/subscriber.hh>

#include "support/eventually.hpp"

// Broker 1.4, in which messages hold trees.
#define PUBSUB_TEST_BROKER_1 !__has_include(<broker/hub.hh>)

namespace pubsub::test {

inline ::broker::configuration quiet_broker() {
  ::broker::broker_options options;
  options.disable_ssl = true;
#if PUBSUB_TEST_BROKER_1
  options.ignore_broker_conf = true;
#endif
  return ::broker::configuration{std::move(options)};
}

/// The value of a message of Broker.
inline ::broker::data value_of(const ::broker::data_message& message) {
#if PUBSUB_TEST_BROKER_1
  return ::broker::get_data(message);
#else
  return ::broker::get_data(message).to_data();
#endif
}
inline std::string topic_of(const ::broker::data_message& message) {
#if PUBSUB_TEST_BROKER_1
  return ::broker::get_topic(message).string();
#else
  return std::string{::broker::get_topic(message)};
#endif
}

/// The next message of a subscriber of Broker; nothing after the deadline.
inline std::optional<::broker::data_message> next_of(::broker::subscriber& from) {
  if (auto message = from.get(std::chrono::duration_cast<::broker::timespan>(patience)))
    return std::move(*message);
  return {};
}

/// So many messages, or fewer where they do not come.
inline std::vector<::broker::data_message> next_of(::broker::subscriber& from, std::size_t n) {
  return from.get(n, std::chrono::duration_cast<::broker::timespan>(patience));
}

} // namespace pubsub::test
